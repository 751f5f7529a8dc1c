// Package harvest saves what dead processes recorded, or what triggers kept of processes: it packs each
// into a file in a bucket or a directory, once.
//
// The place itself says what is done already. The name of a file follows from the recording alone,
// and a file is created only if there is none of its name. So a harvester may be killed at
// any moment and started again, and several may look after one session. A live process is
// never touched, and no lock is held while a recording is read: the processes of a session
// may make room meanwhile, and what they discard is then said in the file.
package harvest

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"gprof/cmd/internal/store"
)

// Options say what is harvested, and where to.
type Options struct {
	Dirs   []string // sessions, and directories in which sessions lie
	Place  store.Place
	All    bool  // also processes that ended in order
	Remove bool  // what the place has confirmed is removed from its session
	Jobs   int   // files at a time, at least 1
	Rate   int64 // bytes written in a second, on average; 0: any

	// Settle is how long a process has to be dead before it is harvested, unless its session
	// says how it ended.
	Settle time.Duration

	// Report, if not nil, is called with all that happens, once at a time.
	Report func(Event)
}

// Harvester remembers what it has seen. Its methods are for one goroutine.
type Harvester struct {
	o     Options
	limit *limiter
	looks int
	seen  map[string]*process // by its path
	told  map[string]bool     // directories that can't be read

	mu   sync.Mutex // for the rest, which jobs use
	sum  Summary
	down bool // the last file could not be written
}

// Summary is what a harvester has done.
type Summary struct {
	Saved      int   `json:"saved"`
	Bytes      int64 `json:"bytes"`      // of these
	Present    int   `json:"present"`    // were in the place before
	Removed    int   `json:"removed"`    // from their sessions
	Gone       int   `json:"gone"`       // made way for newer recordings before they were saved
	Live       int   `json:"live"`       // processes, at the last look
	Left       int   `json:"left"`       // could not be saved
	Unreadable int   `json:"unreadable"` // sessions and recordings
}

// New returns a harvester that has not looked yet.
func New(o Options) *Harvester {
	o.Jobs = max(1, o.Jobs)
	if o.Report == nil {
		o.Report = func(Event) {}
	}
	return &Harvester{o: o, limit: &limiter{rate: o.Rate}, seen: map[string]*process{}, told: map[string]bool{}}
}

// Sum is what was done so far.
func (h *Harvester) Sum() Summary { return h.sum }

// Pass looks for what dead processes have left, and saves it. The error is that of the place;
// some were not tried then, and another pass may work.
func (h *Harvester) Pass(ctx context.Context) error {
	wanted := h.look()
	// What failed before comes last, so that it keeps nothing else from being saved.
	slices.SortFunc(wanted, func(a, b *process) int {
		return cmp.Or(cmp.Compare(a.failures, b.failures), a.ended.Compare(b.ended), cmp.Compare(a.dir(), b.dir()))
	})
	err := h.saveAll(ctx, wanted)
	h.sum.Left = 0
	for _, p := range wanted {
		if p.state == dead {
			h.sum.Left++
		}
	}
	return err
}

// saveAll saves several at a time. When one fails, no further one is begun.
func (h *Harvester) saveAll(ctx context.Context, wanted []*process) error {
	var jobs sync.WaitGroup
	queue, failed := make(chan *process), make(chan error, len(wanted))
	for range min(h.o.Jobs, len(wanted)) {
		jobs.Go(func() {
			for p := range queue {
				if err := h.save(ctx, p); err != nil {
					p.failures++
					failed <- err
				}
			}
		})
	}
	for _, p := range wanted {
		if len(failed) > 0 || ctx.Err() != nil {
			break
		}
		queue <- p
	}
	close(queue)
	jobs.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return context.Cause(ctx)
	}
}

// Watch makes passes until stop ends, and then a last one, which is broken off after grace.
// Where the place fails it tries again, after pauses that grow to a minute. The error is that
// of the last pass.
func (h *Harvester) Watch(stop context.Context, every, grace time.Duration) error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(stop))
	defer cancel(nil)
	defer context.AfterFunc(stop, func() {
		time.AfterFunc(grace, func() { cancel(context.DeadlineExceeded) })
	})()
	for failures := 0; stop.Err() == nil; {
		pause := every
		if h.Pass(ctx) == nil {
			failures = 0
		} else {
			failures++
			pause = max(every, backoff(failures))
		}
		select {
		case <-stop.Done():
		case <-time.After(pause):
		}
	}
	h.o.Settle = 0 // nobody waits for how it ended any more
	return h.Pass(ctx)
}

// backoff is how long to wait after so many failures in a row.
func backoff(failures int) time.Duration {
	return min(time.Second<<min(failures-1, 6), time.Minute)
}

// report tells what happened, and keeps the sum.
func (h *Harvester) report(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tell(e)
}

// tell is report for a caller that holds the lock.
func (h *Harvester) tell(e Event) {
	switch e.What {
	case Saved:
		h.sum.Saved++
		h.sum.Bytes += e.Bytes
	case Present:
		h.sum.Present++
	case Removed:
		h.sum.Removed++
	case Gone:
		h.sum.Gone++
	case Unreadable:
		h.sum.Unreadable++
	}
	e.Time = time.Now()
	h.o.Report(e)
}

// unreadable tells of a directory that can't be read, once.
func (h *Harvester) unreadable(dir string, err error) {
	if !h.told[dir] && !errors.Is(err, fs.ErrNotExist) {
		h.told[dir] = true
		h.report(Event{What: Unreadable, Path: dir, Err: err})
	}
}
