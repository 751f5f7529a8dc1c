package main

import (
	"gprof/cmd/internal/session"
	"gprof/rawformat"
)

type stopCmd struct{ session.Command }

// Help is the end of stop --help.
func (*stopCmd) Help() string {
	return `Processes record nothing until start, seal what they recorded and give back the room that they do not use. What was recorded stays readable. Processes that start meanwhile begin stopped. The programs run on.

Examples:

  gprof-record stop checkout
  gprof-record stop --timeout 30s /var/tmp/rec/checkout`
}

// Run gives the command to the session and waits.
func (c *stopCmd) Run(s *tool) error { return c.Tell(s.Console, rawformat.CommandStop) }
