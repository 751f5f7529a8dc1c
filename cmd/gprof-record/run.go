package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"gprof/recorder"
)

type runCmd struct {
	Dir     string   `short:"d" placeholder:"DIR" help:"Directory in which the session is made (default: where the recorder would)."`
	Limit   sizeFlag `short:"l" placeholder:"SIZE" help:"Bytes that each process may record, such as 64MiB (default: what fits)."`
	Command []string `arg:"" passthrough:"" name:"command" help:"Command and its arguments, after --."`
}

// Help is what run --help ends with.
func (*runCmd) Help() string {
	return `Standard input and output are the command's; what gprof-record says goes to standard error. Signals are passed on. The exit status is the command's, or 128 and the number of the signal that ended it.

Example:

  gprof-record run --dir /tmp/rec --limit 64MiB -- ./server -addr :8080
  gprof-convert /tmp/rec/server -o server.json.gz`
}

// sizeFlag is a number of bytes, 0 not given.
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

// Run starts the command, waits for it, and says where its session lies:
//
//  1. Name the session, so that it is known whatever the command calls itself.
//  2. Start the command with recording switched on in its environment.
//  3. Pass signals on until it ends.
//  4. Look which processes recorded, or explain why none did.
func (c *runCmd) Run(s *streams) error {
	args := c.Command
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return errors.New("no command: want gprof-record run -- COMMAND ARGS")
	}
	session, err := c.session(args[0])
	if err != nil {
		return err
	}
	before := processes(session)
	status, err := s.execute(args, c.environment(session))
	if err != nil {
		return err
	}
	s.report(session, len(processes(session))-len(before))
	if status != 0 {
		return exitError(status)
	}
	return nil
}

func (c *runCmd) session(command string) (string, error) {
	return recorder.Options{Dir: c.Dir, Limit: int64(c.Limit), Service: filepath.Base(command)}.Session()
}

func (c *runCmd) environment(session string) []string {
	env := append(os.Environ(), recorder.EnvSwitch+"=on", recorder.EnvSession+"="+session)
	if c.Limit > 0 {
		env = append(env, fmt.Sprintf("%s=%d", recorder.EnvLimit, c.Limit))
	}
	return env
}

// execute runs the command and returns its exit status.
func (s *streams) execute(args, env []string) (status int, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.stdin, s.stdout, s.stderr
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go forward(cmd.Process, signals, ended)
	err = cmd.Wait()
	close(ended)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return exitStatus(cmd.ProcessState), nil
}

// forward passes signals on until the command has ended.
func forward(p *os.Process, signals <-chan os.Signal, ended <-chan struct{}) {
	for {
		select {
		case sig := <-signals:
			if !reached(sig) {
				p.Signal(sig) // it may have ended meanwhile
			}
		case <-ended:
			return
		}
	}
}

// processes lists the directories of processes in a session.
func processes(session string) []string {
	found, err := filepath.Glob(filepath.Join(session, "[0-9a-f]*", "meta"))
	if err != nil {
		return nil // the session's path has a bracket in it, hence no report
	}
	return found
}

func (s *streams) report(session string, recorded int) {
	if recorded > 0 {
		s.say("recorded %d process(es) in %s", recorded, session)
		s.say("hint: gprof-convert %s -o profile.json.gz", session)
		return
	}
	s.say("warning: the command recorded nothing")
	s.say("hint: it must be a Go program that imports gprof/recorder and calls recorder.Start, or has the line")
	s.say("hint: \timport _ \"gprof/recorder/auto\"")
	s.say("hint: GPROF_HELP=1 shows whether it does")
}
