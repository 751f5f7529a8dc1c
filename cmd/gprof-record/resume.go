package main

import "gprof/rawformat"

type resumeCmd struct{ commandFlags }

// Help is what resume --help ends with.
func (*resumeCmd) Help() string {
	return `Processes record again after pause, except those of programs that paused themselves.

Examples:

  gprof-record resume checkout
  gprof-record resume --timeout 30s /var/tmp/rec/checkout`
}

// Run tells the session and waits.
func (c *resumeCmd) Run(s *streams) error { return c.tell(s, rawformat.CommandResume) }
