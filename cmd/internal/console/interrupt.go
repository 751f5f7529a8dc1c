package console

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// EndOnInterrupt makes an interrupt end the process at once, whatever it waits
// for, but without leaving anything half done. It ends as the signal ends
// others, so that a shell's loop ends, too. The function that it returns takes
// the arrangement back.
func (s *Console) EndOnInterrupt() (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, interrupts()...)
	// Else a write to whatever nobody reads would end the process: see unread.
	unheard := make(chan os.Signal, 1)
	signal.Notify(unheard, syscall.SIGPIPE)
	go func() {
		for {
			select {
			case sig := <-signals:
				if !s.Calm.end() {
					s.interrupted(sig)
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		defer s.Outputs.Hold()() // an interrupt that came ends the process here
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

// Until returns a context that ends with the next interrupt, or with release.
func (c *calm) Until() (ctx context.Context, release func()) {
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

func (s *Console) interrupted(sig os.Signal) {
	s.Outputs.Remove()
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
	os.Exit(Failed)
}

// unread ends the process silently when nobody reads stdout any more, as others
// are ended by then, but without leaving anything half done.
func (s *Console) unread() {
	s.Outputs.Remove()
	os.Exit(Failed)
}
