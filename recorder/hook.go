package recorder

import (
	"gprof/recorder/internal/rt"
	"sync/atomic"
	"time"
)

// Hook is how often Options.AfterRound was called.
type Hook struct {
	Called   uint64
	Missed   uint64 // rounds at whose end it was still busy with one before
	Panicked uint64 // of the calls
}

// hook calls a function of the program after rounds of sampling, in a goroutine of
// its own: whatever it does, the keeper does not wait for it.
type hook struct {
	f                        func(Stats) // nil: none
	due                      rt.Time
	rounds                   chan struct{}
	ended                    chan struct{}
	called, missed, panicked atomic.Uint64
}

// open begins to listen.
func (h *hook) open(r *Recorder, f func(Stats)) {
	if f == nil {
		return
	}
	h.f, h.rounds, h.ended = f, make(chan struct{}), make(chan struct{})
	go h.listen(r)
}

func (h *hook) listen(r *Recorder) {
	defer close(h.ended)
	for range h.rounds {
		h.call(r.Stats)
	}
}

// call calls the function. Its panics are the program's, which wants to go on.
func (h *hook) call(stats func() Stats) {
	defer func() {
		if recover() != nil {
			h.panicked.Add(1)
		}
	}()
	h.called.Add(1)
	h.f(stats())
}

// round says that a round is over; not more often than it should be. It is the
// keeper's.
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

// close ends it, when the keeper is gone. A function that does not return is
// not waited for; its goroutine ends when it does.
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

func (h *hook) stats() Hook {
	return Hook{h.called.Load(), h.missed.Load(), h.panicked.Load()}
}
