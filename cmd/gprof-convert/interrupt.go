package main

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// unfinished are the files that a run has begun and that must not stay if it is
// interrupted. All else that it needs has no name.
type unfinished struct {
	mu    sync.Mutex
	names map[string]bool
}

// create makes a file; f is called with it while no interrupt can come between.
func (u *unfinished) create(make func() (*os.File, error)) (*os.File, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f, err := make()
	if err != nil {
		return nil, err
	}
	if u.names == nil {
		u.names = map[string]bool{}
	}
	u.names[f.Name()] = true
	return f, nil
}

// finish gives a file its name for good.
func (u *unfinished) finish(f *os.File, name string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.names, f.Name())
	if err := errors.Join(f.Chmod(0o644), f.Close(), os.Rename(f.Name(), name)); err != nil {
		os.Remove(f.Name())
		return err
	}
	return nil
}

// drop removes a file.
func (u *unfinished) drop(f *os.File) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.names, f.Name())
	f.Close()
	os.Remove(f.Name())
}

// endOnInterrupt makes an interrupt end the process at once, whatever it waits
// for, but without leaving anything half done. It ends as the signal ends
// others, so that a shell's loop ends, too. The function that it returns takes
// the arrangement back.
func (s *streams) endOnInterrupt() (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case sig := <-signals:
			s.interrupted(sig)
		case <-done:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

func (s *streams) interrupted(sig os.Signal) {
	s.unfinished.mu.Lock() // for good: nothing gets a name any more
	for name := range s.unfinished.names {
		os.Remove(name)
	}
	signal.Reset() // a second interrupt ends what follows, too
	s.problem("error", errors.New("interrupted; what was not finished is removed"))
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(sig) == nil {
		select {} // the signal is on its way
	}
	os.Exit(exitFailed)
}
