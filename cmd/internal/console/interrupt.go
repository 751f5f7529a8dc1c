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

// EndOnInterrupt makes an interrupt end the process at once, whatever it waits for, but
// without leaving anything half done. The process ends by the signal, so that a shell's
// loop ends, too. The returned function restores how signals were handled before.
func (s *Console) EndOnInterrupt() (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, Interrupts()...)
	// Otherwise a write to a closed pipe would end the process: see unread.
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
		defer s.Outputs.Hold()() // after an interrupt the process ends here
		signal.Stop(signals)
		signal.Stop(unheard)
		close(done)
	}
}

// interruptIgnored and hangupIgnored are how the process began: a shell makes scripts in
// the background ignore interrupts, and nohup makes them ignore hangups. They are set
// before anything asks for signals, because signal.Ignored is false for every signal that
// was ever asked for.
var (
	interruptIgnored = signal.Ignored(os.Interrupt)
	hangupIgnored    = signal.Ignored(syscall.SIGHUP)
)

// Interrupts are the signals that end a run. Under nohup a hangup doesn't.
func Interrupts() []os.Signal {
	if hangupIgnored {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

// shutdown is what the first interrupt ends in good order, such as a server.
type shutdown struct {
	mu     sync.Mutex
	cancel context.CancelFunc
}

// Until returns a context that ends with the next interrupt, or with release.
func (c *shutdown) Until() (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	return ctx, func() { c.end() }
}

// end ends what is running, and reports whether there was anything.
func (c *shutdown) end() bool {
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

// deliveryTime is the longest time that a signal to ourselves may take to arrive.
const deliveryTime = time.Second

// endBy ends the process by the signal or, if the process has ignored that from its
// beginning, with the exit status that a shell shows for it.
func endBy(sig os.Signal) {
	if self, err := os.FindProcess(os.Getpid()); err == nil && !(sig == os.Interrupt && interruptIgnored) && self.Signal(sig) == nil {
		time.Sleep(deliveryTime)
	}
	if number, ok := sig.(syscall.Signal); ok {
		os.Exit(128 + int(number))
	}
	os.Exit(Failed)
}

// unread ends the process silently when the reader of stdout is gone, as SIGPIPE would,
// but without leaving anything half done.
func (s *Console) unread() {
	s.Outputs.Remove()
	os.Exit(Failed)
}
