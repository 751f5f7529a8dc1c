package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"gprof/cmd/internal/session"
	"gprof/recorder"
)

type statusCmd struct {
	Dir     string `short:"d" placeholder:"DIR" help:"Directory in which sessions lie (default: where the recorder would put them)."`
	Session string `arg:"" optional:"" help:"Directory of the session, or the service's name (default: a line for each session of this user)."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Help is the end of status --help.
func (*statusCmd) Help() string {
	return `It shows who records or recorded in a session, how much each process holds of the limit that they share, and how far back that reaches. Without a session it lists those that there are.

Examples:

  gprof-record status
  gprof-record status checkout
  gprof-record status /var/tmp/rec/checkout
  gprof-record status --json checkout | jq '.processes[] | select(.alive).pid'

A pause by the program itself is not shown.`
}

// Run shows the state at this moment.
func (c *statusCmd) Run(s *tool) error {
	if c.Session == "" {
		return c.list(s)
	}
	dir, err := (&session.Arg{Dir: c.Dir, Session: c.Session}).Find()
	if err != nil {
		return err
	}
	v, err := session.Look(dir)
	if err != nil {
		return err
	}
	if !c.JSON {
		return v.Print(s.stdout)
	}
	return printJSON(s.stdout, v)
}

// list shows all sessions. One that can't be read is reported and left out.
func (c *statusCmd) list(s *tool) error {
	views := []*session.State{}
	for _, dir := range session.List(c.Dir) {
		v, err := session.Look(dir)
		if err != nil {
			s.Warn(fmt.Errorf("%s: %v", dir, err))
			continue
		}
		views = append(views, v)
	}
	if c.JSON {
		return printJSON(s.stdout, views)
	}
	if len(views) == 0 {
		dirs := recorder.SessionDirs()
		if c.Dir != "" {
			dirs = []string{c.Dir}
		}
		s.Say(fmt.Sprintf("no session in %s", strings.Join(dirs, " or ")))
		s.Hint("sessions elsewhere are shown with --dir DIR, or by their directory; gprof-record run -- COMMAND records one")
		return nil
	}
	return session.PrintSessions(s.stdout, views)
}

func printJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}
