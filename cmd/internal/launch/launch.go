// Package launch runs a user's command as if there were nothing in between: signals are
// passed on, and it ends as the command does.
package launch

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"gprof/chunks/session"
)

// Run runs a command, which it starts by start, and passes signals on to it until it
// ends. It returns the exit status that a shell would show.
func Run(cmd *exec.Cmd, start func(*exec.Cmd) error) (status int, end session.End, err error) {
	signals := make(chan os.Signal, 16)
	ignored, heard := ignoredSignals(forwarded)
	signal.Notify(signals, heard...)
	defer signal.Stop(signals)
	if err := start(cmd); err != nil {
		return 0, end, err
	}
	// The command inherits which signals are ignored, as under nohup, if it is started
	// before we ask for them. If it asks for such a signal itself, it gets it.
	if len(ignored) > 0 {
		signal.Notify(signals, ignored...)
	}
	ended := make(chan struct{})
	go forward(cmd.Process, signals, ended)
	err = cmd.Wait()
	close(ended)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, end, err
	}
	end = session.End{Pid: uint32(cmd.Process.Pid), Code: cmd.ProcessState.ExitCode(), Signal: signalOf(cmd.ProcessState)}
	if end.Signal != 0 {
		return 128 + end.Signal, end, nil // what a shell would show
	}
	return end.Code, end, nil
}

// ignoredSignals separates the signals that the process began with ignored from the
// others. It must be called before any of them is asked for.
func ignoredSignals(all []os.Signal) (ignored, others []os.Signal) {
	for _, sig := range all {
		if signal.Ignored(sig) {
			ignored = append(ignored, sig)
		} else {
			others = append(others, sig)
		}
	}
	return ignored, others
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
