package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"gprof/chunks/session"
	"gprof/cmd/internal/console"
	"gprof/cmd/internal/human"
	"gprof/rawformat"
)

// Command are the arguments of the commands that all processes of a session obey.
type Command struct {
	Arg
	Timeout time.Duration `short:"t" default:"5s" placeholder:"DURATION" help:"How long to wait until all have obeyed (default: 5s)."`
}

// pollEvery is how often answers are looked for. Processes look for commands every 100
// ms.
const pollEvery = 20 * time.Millisecond

// Tell gives all processes of the session a command:
//
//  1. Refuse commands that make no sense in the session's state.
//  2. Store the command: processes that start later follow it, too.
//  3. Wait until all live processes have obeyed, and name those that have not.
func (c *Command) Tell(s *console.Console, what rawformat.Command) error {
	dir, err := c.Find()
	if err != nil {
		return err
	}
	control, err := session.Open(dir, session.Options{Existing: true})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no control page: its processes record alone and cannot be told", dir)
	}
	if err != nil {
		return err
	}
	defer control.Close() // nothing to write back
	if before, _ := control.State(); before == rawformat.CommandStop && (what == rawformat.CommandPause || what == rawformat.CommandResume) {
		return fmt.Errorf("the session is stopped: gprof-record start %s records again", c.Session)
	}
	generation, err := control.Command(what)
	if err != nil {
		return err
	}
	return c.await(s, dir, what, generation)
}

// await waits for the answers.
func (c *Command) await(s *console.Console, dir string, what rawformat.Command, generation uint64) error {
	for deadline := time.Now().Add(c.Timeout); ; time.Sleep(pollEvery) {
		told, err := readSession(dir)
		if err != nil {
			return err
		}
		late := late(told, generation)
		if len(late) == 0 {
			return tellState(s, dir, what)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no answer within %v from %s: stopped by a signal, or too busy; the command holds, and they obey when they run again", c.Timeout, strings.Join(late, ", "))
		}
	}
}

// late names the live processes that have not obeyed.
func late(s *session.Status, generation uint64) (names []string) {
	if s == nil {
		return nil // somebody removed the session
	}
	for _, x := range s.Slots {
		if x.Alive && x.Obeyed < generation {
			names = append(names, processName(x.Pid, fmt.Sprintf("%016x", x.Instance)))
		}
	}
	return names
}

// tellState prints what the session does now.
func tellState(s *console.Console, session string, what rawformat.Command) error {
	v, err := Look(session)
	if err != nil {
		return err
	}
	obeyed := 0
	for _, p := range v.Processes {
		switch {
		case p.Obeyed:
			obeyed++
		case p.Alive && p.Alone:
			s.Warn(fmt.Errorf("%s has a limit of its own and cannot be told", processName(p.Pid, p.Instance)))
		}
	}
	if obeyed == 0 {
		s.Say(fmt.Sprintf("%s: no process is running; those that start will be %s", filepath.Base(session), stateAfter(what)))
		return nil
	}
	s.Say(fmt.Sprintf("%s: %s %s", filepath.Base(session), human.Plural(obeyed, "process"), stateAfter(what)))
	return nil
}

// processName is the name of a process for people.
func processName(pid uint32, instance string) string {
	return fmt.Sprintf("pid %d (instance %s)", pid, instance)
}
