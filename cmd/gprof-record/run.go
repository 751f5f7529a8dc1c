package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gprof/chunks/folder"
	chunksession "gprof/chunks/session"
	"gprof/cmd/internal/console"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/launch"
	"gprof/cmd/internal/session"
	"gprof/recorder"
)

type runCmd struct {
	Dir   string   `short:"d" placeholder:"DIR" help:"Directory in which the session is made (default: where the recorder would)."`
	Limit sizeFlag `short:"l" placeholder:"SIZE" help:"Bytes that the processes of the session may record together, such as 64MiB (default: what fits)."`
	Pack  packFlag `short:"o" placeholder:"FILE.gprof" help:"When the command has ended, however it did, pack what it and its children recorded into this file."`
	Perf  bool     `help:"Sample the command from outside instead: any program, whatever it is written in (Linux)."`
	sampleFlags
	Command []string `arg:"" passthrough:"" name:"command" help:"Command and its arguments, after --."`
}

// Help is the end of run --help.
func (*runCmd) Help() string {
	return `Standard input and output are the command's; what gprof-record says goes to standard error. Signals are passed on. The exit status is the command's, or 128 and the number of the signal that ended it.

What --dir and --limit say goes before what the environment and the program itself say.

Example:

  gprof-record run --dir /tmp/rec --limit 64MiB -- ./server -addr :8080
  gprof-convert /tmp/rec/server -o server.json.gz
  gprof-record run --pack crash.gprof -- ./server

With --perf the command need not know of us: the kernel samples it and the processes that it begins, see gprof-record attach --help. What the environment says of recording is left as it is.

  gprof-record run --perf -- make -j8
  gprof-record run --perf --rate 100 --pack query.gprof -- psql -f slow.sql`
}

// sizeFlag is a number of bytes, 0 if it is not given.
type sizeFlag int64

// UnmarshalText reads the flag.
func (f *sizeFlag) UnmarshalText(text []byte) error {
	n, err := recorder.ParseSize(string(text))
	if err == nil && n == 0 {
		err = fmt.Errorf("size %q: want more than nothing", text)
	}
	*f = sizeFlag(n)
	return err
}

// packFlag is the file to pack into, "" for none. If it can't be made that is reported
// before anything is recorded, not when it is too late.
type packFlag string

// UnmarshalText reads the flag.
func (f *packFlag) UnmarshalText(text []byte) error {
	*f = packFlag(text)
	if info, err := os.Stat(string(text)); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory; want the name of a file in it", text)
	}
	_, err := os.Stat(filepath.Dir(string(text)))
	return err
}

// Run starts the command, waits for it, and prints the place of its session:
//
//  1. Name the session, so that its name does not depend on the command.
//  2. Start the command with recording switched on in its environment.
//  3. Pass signals on until it ends.
//  4. Write how it ended, which its own recorder could not.
//  5. Look which processes recorded, or explain why none did; pack them if that was
//     asked for.
//
// Problems with the recording do not keep the command from running.
func (c *runCmd) Run(s *tool) error {
	if c.Perf {
		return c.sample(s)
	}
	dir, err := c.prepare()
	if err != nil {
		s.Warn(fmt.Errorf("no session: %v", err))
	}
	before := session.Processes(dir)
	status, end, err := launch.Run(s.command(c.Command), (*exec.Cmd).Start)
	if err != nil {
		return err
	}
	recorded := slices.DeleteFunc(session.Processes(dir), func(p string) bool { return slices.Contains(before, p) })
	for _, p := range recorded {
		if err := chunksession.WriteExit(p, end); err != nil {
			s.Warn(fmt.Errorf("%s: %v", p, err))
		}
	}
	s.report(dir, len(recorded))
	if c.Pack != "" && len(recorded) > 0 {
		awaitEnds(recorded)
		if err := s.pack(string(c.Pack), dir, recorded); err != nil {
			s.Warn(fmt.Errorf("nothing is packed: %v", err))
		}
	}
	if status != 0 {
		return console.Exit(status, nil)
	}
	return nil
}

// lingering is how long a process may go on after the command for it to count as ended with it, as one that
// timeout killed: the kernel takes a moment to end a process, and timeout does not wait for that.
const lingering = time.Second

// awaitEnds waits until no recorder is at work in the directories of processes, but not for long.
func awaitEnds(dirs []string) {
	for until := time.Now().Add(lingering); slices.ContainsFunc(dirs, chunksession.Alive) && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
}

// AfterApply removes the separator before the command. Words before it are unknown flags
// of ours, not the command's.
func (c *runCmd) AfterApply() error {
	if c.Command[0] != "--" && strings.HasPrefix(c.Command[0], "-") {
		return fmt.Errorf("unknown flag %s", c.Command[0])
	}
	if c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	if len(c.Command) == 0 {
		return errors.New("no command: want gprof-record run -- COMMAND ARGS")
	}
	return nil
}

// prepare sets the environment of the command, and returns the session's directory, "" if
// there is none. Flags override the environment.
func (c *runCmd) prepare() (session string, err error) {
	os.Setenv(recorder.EnvSwitch, "on") // only fails for malformed names
	if c.Limit > 0 {
		os.Setenv(recorder.EnvLimit, strconv.FormatInt(int64(c.Limit), 10))
	}
	if c.Dir != "" {
		os.Unsetenv(recorder.EnvSession)
		os.Unsetenv(recorder.EnvParent) // which is in another session
	}
	session, err = recorder.Options{Dir: c.Dir, Service: launch.Program(c.Command)}.Session()
	if err == nil {
		os.Setenv(recorder.EnvSession, session)
	}
	return session, err
}

// command is the command to start, with our standard input and output.
func (s *tool) command(args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Stdin, s.stdout, s.Stderr
	return cmd
}

func (s *tool) report(session string, recorded int) {
	if recorded > 0 {
		s.Say(fmt.Sprintf("recorded %s in %s", human.Plural(recorded, "process"), session))
		s.Hint(fmt.Sprintf("gprof-convert %s -o profile.json.gz", shellWord(session)))
		return
	}
	s.Warn(errors.New("the command recorded nothing"))
	if err := folder.CheckSession(session, true); err != nil {
		s.Warn(err)
		return
	}
	s.Hint("see above if the program said why; else")
	s.Hint("it must be a Go program that imports gprof/recorder and calls recorder.Start, or has the line")
	s.Hint("    import _ \"gprof/recorder/auto\"")
	s.Hint("with GPROF_HELP=1 in its environment such a program prints what can be set")
}
