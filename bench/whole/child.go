//go:build linux

package main

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Roles of the program's own children, whose CPU time isn't that of the server.
const (
	roleEnv  = "GPROF_WHOLE_ROLE"
	sinkRole = "sink"
	loadRole = "load"
)

type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// child starts this program in a role, with arguments. It ends with its standard input.
func child(role string, args ...string) (p process, out io.Reader, err error) {
	self, err := os.Executable()
	if err != nil {
		return p, nil, err
	}
	p.cmd = exec.Command(self, args...)
	p.cmd.Env = append(os.Environ(), roleEnv+"="+role, "GPROF_DISABLE=1")
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if out, err = p.cmd.StdoutPipe(); err != nil {
		return p, nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return p, nil, err
	}
	return p, out, p.cmd.Start()
}

func (p process) end() {
	p.stdin.Close()
	p.cmd.Process.Kill()
	p.cmd.Wait()
}
