//go:build unix

package launch

import (
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// forwarded are the signals that people and supervisors send to programs.
var forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH, syscall.SIGALRM,
}

// reached reports whether the command got the signal already: a terminal sends the
// signals of keys to all processes in its foreground.
func reached(sig os.Signal) bool {
	return (sig == syscall.SIGINT || sig == syscall.SIGQUIT || sig == syscall.SIGWINCH) && inForeground()
}

// inForeground reports whether our processes are in the foreground of a terminal. If
// /proc doesn't tell, having a terminal is taken for it.
func inForeground() bool {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		tty, err := os.Open("/dev/tty")
		if err != nil {
			return false
		}
		return tty.Close() == nil
	}
	// After the name: state, parent, group, session, terminal, its group.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return len(fields) > 5 && fields[5] == strconv.Itoa(syscall.Getpgrp())
}

// signalOf is the signal that ended a process, 0 for none.
func signalOf(p *os.ProcessState) int {
	if w, ok := p.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return int(w.Signal())
	}
	return 0
}

// Ending are the signals that end the sampling of processes that run on. Under
// nohup a hangup doesn't.
func Ending() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
}
