package main

import (
	"gprof/cmd/internal/session"
	"gprof/rawformat"
)

type startCmd struct{ session.Command }

// Help is the end of start --help.
func (*startCmd) Help() string {
	return `Processes record again, from pause or stop. What they recorded before stays where it is: no data is lost by start. The command returns when every live process of the session records.

Examples:

  gprof-record start checkout
  gprof-record start --timeout 30s /var/tmp/rec/checkout`
}

// Run gives the command to the session and waits.
func (c *startCmd) Run(s *tool) error { return c.Tell(s.Console, rawformat.CommandStart) }
