// Package watchdog gives up inputs that stopped delivering: a network mount whose server is gone, a
// pipe whose writer hangs.
//
// The rule is Gecko's for its child processes. Progress of any input extends the wait for all of
// them; without any during a whole tick, those being waited for are given up. So slow inputs are
// not dropped, and hanging ones are after one to two ticks.
//
// A hanging operation can't be cancelled. It is abandoned, and never touches its caller's memory.
package watchdog

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// ErrStalled says that no input made progress for a whole tick.
var ErrStalled = errors.New("stalled: nothing came for too long")

// Watch watches the inputs of a run. It is for concurrent use.
type Watch struct {
	tick     time.Duration
	progress atomic.Uint64
	buffers  sync.Pool // of *[]byte
	waiters  sync.Pool // of *waiter
}

// waiter is what waits for one operation after the other.
type waiter struct {
	done  chan struct{} // with room for one, so that an operation that is too late ends
	timer *time.Timer
}

// New returns a watch with that tick; without a positive tick it waits forever.
func New(tick time.Duration) *Watch { return &Watch{tick: tick} }

// Do runs op and waits by the rule. After [ErrStalled] op is still running: it must not touch what
// its caller goes on to use.
func (w *Watch) Do(op func()) error {
	if w.tick <= 0 {
		op()
		return nil
	}
	p, ok := w.waiters.Get().(*waiter)
	if ok {
		p.timer.Reset(w.tick)
	} else {
		p = &waiter{make(chan struct{}, 1), time.NewTimer(w.tick)}
	}
	go func() {
		op()
		p.done <- struct{}{}
	}()
	err := w.wait(p)
	p.timer.Stop()
	if err == nil {
		w.waiters.Put(p)
	}
	return err
}

func (w *Watch) wait(p *waiter) error {
	for seen := w.progress.Load(); ; {
		select {
		case <-p.done:
			w.progress.Add(1)
			return nil
		case <-p.timer.C:
			now := w.progress.Load()
			if now == seen {
				return ErrStalled
			}
			seen = now
			p.timer.Reset(w.tick)
		}
	}
}

type doer interface{ Do(op func()) error }

// Call is [Watch.Do] for an operation with a result.
func Call[T any](w *Watch, op func() (T, error)) (T, error) { return call(w, op, nil) }

// call runs an operation with a result; a late result is passed to late.
func call[T any](w doer, op func() (T, error), late func(T)) (T, error) {
	type result struct {
		v   T
		err error
	}
	var state atomic.Pointer[result]
	given := new(result) // marks that nobody waits any more
	err := w.Do(func() {
		v, err := op()
		if !state.CompareAndSwap(nil, &result{v, err}) && err == nil && late != nil {
			late(v)
		}
	})
	if err != nil && state.CompareAndSwap(nil, given) {
		var none T
		return none, err
	}
	r := state.Load()
	return r.v, r.err
}

// Reader returns a reader of r that stalls for good.
func (w *Watch) Reader(r io.Reader) io.Reader {
	if w.tick <= 0 {
		return r
	}
	return &reader{w: w, r: r}
}

type reader struct {
	w   *Watch
	r   io.Reader
	buf []byte
	err error
}

func (r *reader) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.buf == nil {
		r.buf = make([]byte, 64<<10)
	}
	b := r.buf[:min(len(p), len(r.buf))]
	if n, err = read(r.w, func() (int, error) { return r.r.Read(b) }); err != nil {
		r.err = err
	}
	return copy(p, b[:n]), err
}

// read runs an operation that reads n bytes.
func read(w doer, op func() (int, error)) (int, error) {
	var got struct {
		n   int
		err error
	}
	if err := w.Do(func() { got.n, got.err = op() }); err != nil {
		return 0, err
	}
	return got.n, got.err
}

// buffer returns memory for an operation on at most n bytes; done returns it, unless the operation
// still uses it.
func (w *Watch) buffer(n int) *[]byte {
	n = min(n, piece)
	if b, ok := w.buffers.Get().(*[]byte); ok && cap(*b) >= n {
		*b = (*b)[:n]
		return b
	}
	b := make([]byte, n)
	return &b
}

func (w *Watch) done(b *[]byte, err error) {
	if err != ErrStalled {
		w.buffers.Put(b)
	}
}
