package session

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"gprof/rawformat"
	"gprof/stream/wording"
)

// PrintSessions writes a line for each session.
func PrintSessions(w io.Writer, views []*State) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SESSION\tSTATE\tALIVE\tENDED\tHOLDS\tREACH") // Flush returns the error
	for _, v := range views {
		state, oldest := v.State, 0.0
		if v.Alive() == 0 {
			state = "no process is running"
		}
		for _, p := range v.Processes {
			oldest = max(oldest, p.Reach)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\n", wording.Printable(v.Session), state, v.Alive(), len(v.Processes)-v.Alive(), Size(v.Held), reach(oldest))
	}
	return t.Flush()
}

// Print writes a view for people.
func (v *State) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "session\t%s\n", wording.Printable(v.Session)) // Flush returns the error
	fmt.Fprintf(t, "state\t%s\n", v.Doing())
	fmt.Fprintf(t, "limit\t%s\n", v.use())
	fmt.Fprintf(t, "processes\t%d alive, %d ended\n", v.Alive(), len(v.Processes)-v.Alive())
	if err := t.Flush(); err != nil || len(v.Processes) == 0 {
		return err
	}
	fmt.Fprintln(t, "\nINSTANCE\tPID\tSERVICE\tSTATE\tHOLDS\tREACH")
	for _, p := range v.Processes {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\n", p.Instance, p.Pid, wording.Printable(cmp.Or(p.Service, "-")), p.describe(), Size(p.Held), reach(p.Reach))
	}
	return t.Flush()
}

// Doing says what the session's processes do.
func (v *State) Doing() string {
	if v.Alive() == 0 {
		return "no process is running; those that start will be " + v.State
	}
	return v.State
}

// use says how much of the limit is taken.
func (v *State) use() string {
	if v.Limit == 0 {
		return fmt.Sprintf("%s in use; each process has a limit of its own", Size(v.Held))
	}
	return fmt.Sprintf("%s of %s in use (%d %%)", Size(v.Held), Size(v.Limit), v.Held*100/v.Limit)
}

// describe says what a process does, or how it ended.
func (p *Process) describe() string {
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

// Size writes bytes for people.
func Size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// states are the states of processes that obeyed a command.
var states = [...]string{rawformat.CommandStart: "recording", rawformat.CommandPause: "paused", rawformat.CommandResume: "recording", rawformat.CommandStop: "stopped"}

// stateAfter is the state of a process that obeyed a command.
func stateAfter(c rawformat.Command) string {
	if int(c) < len(states) {
		return states[c]
	}
	return c.String()
}
