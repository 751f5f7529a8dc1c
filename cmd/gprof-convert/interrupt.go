package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// unfinished are the files and directories that a run has begun and that must
// not stay if it is interrupted. All else that it needs has no name.
type unfinished struct {
	mu    sync.Mutex
	paths map[path]bool
}

// path is a name, or the beginning of all those that count.
type path struct {
	name  string
	begin bool
}

// add lists what make makes, by the path that it returns; no interrupt comes
// between.
func (u *unfinished) add(make func() (path, error)) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	p, err := make()
	if err != nil {
		return err
	}
	if u.paths == nil {
		u.paths = map[path]bool{}
	}
	u.paths[p] = true
	return nil
}

// finish strikes a name off the list when end has done with it.
func (u *unfinished) finish(name string, end func() error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.paths, path{name: name})
	return end()
}

// remove removes everything. Somebody may still be at work in a directory: it
// is moved away from under them first.
func (u *unfinished) remove() {
	for p := range u.paths {
		for _, name := range p.names() {
			away := name + ".gone"
			if os.Rename(name, away) == nil {
				os.RemoveAll(away)
			}
		}
	}
}

func (p path) names() (all []string) {
	if !p.begin {
		return []string{p.name}
	}
	dir, begin := filepath.Split(p.name)
	entries, _ := os.ReadDir(dir) // what is not there need not be removed
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begin) {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all
}

// endOnInterrupt makes an interrupt end the process at once, whatever it waits
// for, but without leaving anything half done. It ends as the signal ends
// others, so that a shell's loop ends, too. The function that it returns takes
// the arrangement back.
func (s *streams) endOnInterrupt() (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, interrupts()...)
	// Else a write to whatever nobody reads would end the process: see unread.
	unheard := make(chan os.Signal, 1)
	signal.Notify(unheard, syscall.SIGPIPE)
	go func() {
		for {
			select {
			case sig := <-signals:
				if !s.calm.end() {
					s.interrupted(sig)
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		s.unfinished.mu.Lock() // an interrupt that came ends the process here
		defer s.unfinished.mu.Unlock()
		signal.Stop(signals)
		signal.Stop(unheard)
		close(done)
	}
}

// interruptIgnored and hangupIgnored tell what the process began with: a shell has
// what a script runs in the background ignore interrupts, and nohup hangups. They
// are set before anything asks for signals, because signal.Ignored answers false for
// every signal that was once asked for.
var (
	interruptIgnored = signal.Ignored(os.Interrupt)
	hangupIgnored    = signal.Ignored(syscall.SIGHUP)
)

// interrupts are the signals that end a run. Under nohup a hangup doesn't.
func interrupts() []os.Signal {
	if hangupIgnored {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

// calm is what the first interrupt ends in order, if there is something: a server
// that goes on until then.
type calm struct {
	mu     sync.Mutex
	cancel context.CancelFunc
}

// until returns a context that ends with the next interrupt, or with release.
func (c *calm) until() (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	return ctx, func() { c.end() }
}

// end ends what there is, and reports whether there was something.
func (c *calm) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel == nil {
		return false
	}
	c.cancel()
	c.cancel = nil
	return true
}

func (s *streams) interrupted(sig os.Signal) {
	s.unfinished.mu.Lock() // for good: nothing gets a name any more
	s.unfinished.remove()
	signal.Reset() // a second interrupt ends what follows, too
	s.problem("error", errors.New("interrupted; what was not finished is removed"))
	endBy(sig)
}

// deliveryTime is how long a signal to ourselves may take to arrive.
const deliveryTime = time.Second

// endBy ends the process as the signal ends others, or with the exit status that a
// shell shows for that: the signal has no effect if the process began with it ignored.
func endBy(sig os.Signal) {
	if self, err := os.FindProcess(os.Getpid()); err == nil && !(sig == os.Interrupt && interruptIgnored) && self.Signal(sig) == nil {
		time.Sleep(deliveryTime)
	}
	if number, ok := sig.(syscall.Signal); ok {
		os.Exit(128 + int(number))
	}
	os.Exit(exitFailed)
}

// unread ends the process silently when nobody reads stdout any more, as others
// are ended by then, but without leaving anything half done.
func (s *streams) unread() {
	s.unfinished.mu.Lock()
	s.unfinished.remove()
	os.Exit(exitFailed)
}
