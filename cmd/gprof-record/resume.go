package main

import (
	"gprof/cmd/internal/session"
	"gprof/rawformat"
)

type resumeCmd struct{ session.Command }

// Help is the end of resume --help.
func (*resumeCmd) Help() string {
	return `Processes record again after pause, except those of programs that paused themselves.

Examples:

  gprof-record resume checkout
  gprof-record resume --timeout 30s /var/tmp/rec/checkout`
}

// Run gives the command to the session and waits.
func (c *resumeCmd) Run(s *tool) error { return c.Tell(s.Console, rawformat.CommandResume) }
