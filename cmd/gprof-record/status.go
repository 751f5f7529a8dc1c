package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"gprof/rawformat"
	"gprof/recorder"
	"gprof/stream"
)

type statusCmd struct {
	Dir     string `short:"d" placeholder:"DIR" help:"Directory in which sessions lie (default: where the recorder would put them)."`
	Session string `arg:"" optional:"" help:"Directory of the session, or the service's name (default: a line for each session of this user)."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Help is what status --help ends with.
func (*statusCmd) Help() string {
	return `It shows who records or recorded in a session, how much each process holds of the limit that they share, and how far back that reaches. Without a session it lists those that there are.

Examples:

  gprof-record status
  gprof-record status checkout
  gprof-record status /var/tmp/rec/checkout
  gprof-record status --json checkout | jq '.processes[] | select(.alive).pid'

A pause by the program itself is not shown.`
}

// Run looks once.
func (c *statusCmd) Run(s *streams) error {
	if c.Session == "" {
		return c.list(s)
	}
	dir, err := (&sessionArg{Dir: c.Dir, Session: c.Session}).find()
	if err != nil {
		return err
	}
	v, err := look(dir)
	if err != nil {
		return err
	}
	if !c.JSON {
		return v.print(s.stdout)
	}
	return printJSON(s.stdout, v)
}

// list shows all sessions. One that can't be read is said, and left out.
func (c *statusCmd) list(s *streams) error {
	views := []*view{}
	for _, dir := range sessions(c.Dir) {
		v, err := look(dir)
		if err != nil {
			s.say("warning: %s: %v", dir, err)
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
		s.say("no session in %s", strings.Join(dirs, " or "))
		s.say("hint: sessions elsewhere are shown with --dir DIR, or by their directory; gprof-record run -- COMMAND records one")
		return nil
	}
	return printSessions(s.stdout, views)
}

// printSessions writes a line for each session.
func printSessions(w io.Writer, views []*view) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SESSION\tSTATE\tALIVE\tENDED\tHOLDS\tREACH") // Flush returns the error
	for _, v := range views {
		state, oldest := v.State, 0.0
		if v.alive() == 0 {
			state = "no process is running"
		}
		for _, p := range v.Processes {
			oldest = max(oldest, p.Reach)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\n", stream.Printable(v.Session), state, v.alive(), len(v.Processes)-v.alive(), size(v.Held), reach(oldest))
	}
	return t.Flush()
}

func printJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// print writes a view for people.
func (v *view) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "session\t%s\n", stream.Printable(v.Session)) // Flush returns the error
	fmt.Fprintf(t, "state\t%s\n", v.does())
	fmt.Fprintf(t, "limit\t%s\n", v.use())
	fmt.Fprintf(t, "processes\t%d alive, %d ended\n", v.alive(), len(v.Processes)-v.alive())
	if err := t.Flush(); err != nil || len(v.Processes) == 0 {
		return err
	}
	fmt.Fprintln(t, "\nINSTANCE\tPID\tSERVICE\tSTATE\tHOLDS\tREACH")
	for _, p := range v.Processes {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\n", p.Instance, p.Pid, stream.Printable(cmp.Or(p.Service, "-")), p.describe(), size(p.Held), reach(p.Reach))
	}
	return t.Flush()
}

// does is what the session's processes do.
func (v *view) does() string {
	if v.alive() == 0 {
		return "no process is running; those that start will be " + v.State
	}
	return v.State
}

// use is how much of the limit is taken.
func (v *view) use() string {
	if v.Limit == 0 {
		return fmt.Sprintf("%s in use; each process has a limit of its own", size(v.Held))
	}
	return fmt.Sprintf("%s of %s in use (%d %%)", size(v.Held), size(v.Limit), v.Held*100/v.Limit)
}

// describe is what a process does, or how it ended.
func (p *processView) describe() string {
	switch {
	case p.Alive && p.Alone:
		return p.State + ", not in the session's account"
	case p.Alive && !p.Obeyed:
		return p.State + ", has not obeyed yet"
	case p.Alive || p.Ended == nil:
		return p.State
	}
	return fmt.Sprintf("%s %s", p.State, p.Ended.UTC().Format("2006-01-02 15:04:05Z"))
}

// reach writes a duration as people say it.
func reach(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// size writes bytes for people.
func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// count is a number of things for people.
func count(n int, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "s"):
		what += "es"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// states are what the processes of a session do after a command.
var states = [...]string{rawformat.CommandStart: "recording", rawformat.CommandPause: "paused", rawformat.CommandResume: "recording", rawformat.CommandStop: "stopped"}

// stateAfter is that of a process that obeyed a command.
func stateAfter(c rawformat.Command) string {
	if int(c) < len(states) {
		return states[c]
	}
	return c.String()
}
