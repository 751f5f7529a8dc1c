package main

import (
	"gprof/cmd/internal/session"
	"gprof/rawformat"
)

type pauseCmd struct{ session.Command }

// Help is the end of pause --help.
func (*pauseCmd) Help() string {
	return `Processes record nothing until resume, and keep the room that they have. Processes that start meanwhile begin paused. A program that paused itself stays so until it resumes, too.

Examples:

  gprof-record pause checkout
  gprof-record pause --timeout 30s /var/tmp/rec/checkout`
}

// Run gives the command to the session and waits.
func (c *pauseCmd) Run(s *tool) error { return c.Tell(s.Console, rawformat.CommandPause) }
