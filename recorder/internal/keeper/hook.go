package keeper

import (
	"sync/atomic"
	"time"

	"gprof/recorder/internal/rt"
)

// hook calls a function of the program after rounds of sampling, in a goroutine of its own:
// the keeper does not wait for it, whatever it does.
type hook struct {
	f                        func() // nil: none
	due                      rt.Time
	rounds                   chan struct{}
	ended                    chan struct{}
	called, missed, panicked atomic.Uint64
}

// open starts the goroutine.
func (h *hook) open(f func()) {
	if f == nil {
		return
	}
	h.f, h.rounds, h.ended = f, make(chan struct{}), make(chan struct{})
	go h.listen()
}

func (h *hook) listen() {
	defer close(h.ended)
	for range h.rounds {
		h.call()
	}
}

// call calls the function. A panic in it is the program's, which wants to go on.
func (h *hook) call() {
	defer func() {
		if recover() != nil {
			h.panicked.Add(1)
		}
	}()
	h.called.Add(1)
	h.f()
}

// round says that a round is over, at most once in the time of a round. Only the keeper
// calls it.
func (h *hook) round(now rt.Time) {
	if h.f == nil || now < h.due {
		return
	}
	h.due = now - now%rt.Time(round) + rt.Time(round)
	select {
	case h.rounds <- struct{}{}:
	default:
		h.missed.Add(1)
	}
}

// close ends the goroutine, after the keeper's. It does not wait for a function that does
// not return; the goroutine ends when the function does.
func (h *hook) close() {
	if h.f == nil {
		return
	}
	close(h.rounds)
	select {
	case <-h.ended:
	case <-time.After(patience):
	}
}

// Hooked returns how often the program's function was called, how many rounds ended while
// it was still busy, and how many of the calls panicked.
func (k *Keeper) Hooked() (called, missed, panicked uint64) {
	return k.hook.called.Load(), k.hook.missed.Load(), k.hook.panicked.Load()
}
