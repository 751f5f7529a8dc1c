package gotrace

import (
	"errors"
	"fmt"
	"io"

	"gprof/ingest/internal/damage"
)

// reader reads the events of a trace, one generation after the other: each by itself, so that one that can't be read
// costs the rest of it alone.
type reader struct {
	r       io.ReaderAt
	version int
	all     []generation
	claim   func(bytes int64) error // as in newEvents
	at      int                     // current generation
	events  *events                 // its events; nil: not begun
	before  uint64                  // number of the generation before; 0: none, or lost
	last    int64                   // time of the last event
	held    int64                   // by the generation before
}

// portion is events of one generation, one after the other.
type portion struct {
	events []event
	tables *tables // that they refer to
	done   int64   // about how many bytes have been read
	err    error   // behind the events: io.EOF, a *lostError, or that of a claim
}

// portionEvents is how many events there are in a portion: so few that they stay in a processor's cache.
const portionEvents = 512

// lostError is an unreadable part of a file. Reading may go on, but the program's state is unknown.
type lostError struct {
	at    damage.Error
	count int64 // generations
	size  int64 // bytes of them
}

func (e *lostError) Error() string { return e.at.Error() }
func (e *lostError) Unwrap() error { return &e.at }

// read reads a portion of events, in ascending time.
func (r *reader) read(p *portion) {
	if p.events == nil {
		p.events = make([]event, portionEvents)
	}
	p.events = p.events[:0]
	if p.err = r.begin(); p.err != nil {
		return
	}
	p.tables, p.done = r.events.tables, r.all[r.at].from
	for len(p.events) < portionEvents && r.events != nil {
		n := len(p.events)
		p.events = p.events[:n+1]
		ev := &p.events[n]
		switch err := r.events.next(ev); {
		case err == io.EOF:
			r.end(ev)
		case err != nil:
			p.events = p.events[:n]
			p.err = r.lose(err)
		default:
			ev.time = max(ev.time, r.last+1)
			r.last = ev.time
		}
	}
}

// begin begins a generation if there is none that has begun.
func (r *reader) begin() (err error) {
	if r.events != nil {
		return nil
	}
	if r.at == len(r.all) {
		return io.EOF
	}
	g := &r.all[r.at]
	if before := r.before; before != 0 && g.number != before+1 {
		r.before = 0
		return missing(g, before)
	}
	// The rest of the generation before refers to its tables.
	held := int64(0)
	claim := func(bytes int64) error {
		held = bytes
		return r.claim(r.held + bytes)
	}
	if r.events, err = newEvents(r.r, r.version, g, claim); errors.Is(err, errFull) {
		return err
	} else if err != nil {
		return r.lose(err)
	}
	r.held = held
	return nil
}

// errFull is a claim of memory that there isn't.
var errFull = errors.New("no memory is left")

// end makes ev the end of a generation.
func (r *reader) end(ev *event) {
	r.before = r.all[r.at].number
	r.at, r.events = r.at+1, nil
	*ev = event{kind: kindOver, time: r.last, goroutine: none, processor: none, thread: none}
	if r.at == len(r.all) { // what goes on is told as if another one began
		r.last++
		ev.kind, ev.time = kindGeneration, r.last
	}
}

// lose gives up a generation.
func (r *reader) lose(err error) error {
	g := &r.all[r.at]
	r.at, r.events, r.before = r.at+1, nil, 0
	at := damage.Error{Off: g.from, Err: err}
	if where := (*damage.Error)(nil); errors.As(err, &where) {
		at = *where
	}
	return &lostError{at, 1, g.to - g.from}
}

// missing reports that generations between before and g are missing.
func missing(g *generation, before uint64) error {
	count := int64(1)
	if g.number > before {
		count = int64(min(g.number-before-1, maxGenerations))
	}
	return &lostError{damage.Error{Off: g.from, Err: fmt.Errorf("%w: generation %d follows %d", damage.ErrDamaged, g.number, before)}, count, 0}
}
