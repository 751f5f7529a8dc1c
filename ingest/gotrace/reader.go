package gotrace

import (
	"fmt"
	"io"
	"strings"

	"gprof/ingest/internal/damage"
)

// reader gives the events of a trace one after the other. It reads each
// generation as a trace of its own: a reader of the library that goes from one to
// the next holds both. A generation that the library can't read costs what was
// left of it.
type reader struct {
	r       io.ReaderAt
	version int
	all     []generation
	at      int      // generation that is read
	lib     *library // of it; nil: it has not begun
	told    int      // times that lib told of a generation: of its beginning, and of the end
	before  uint64   // number of the generation before; 0: there is none, or it is lost
	last    int64    // time of the last event
}

// lostError is a part of a file that was not read. Reading may go on; what was
// known of the state of the program is not, any more.
type lostError struct {
	at    damage.Error
	count int64 // generations
	size  int64 // bytes of them
}

func (e *lostError) Error() string { return e.at.Error() }
func (e *lostError) Unwrap() error { return &e.at }

// next reads an event into ev: each is later than the last. The error is io.EOF at
// the end, or a *lostError.
func (r *reader) next(ev *event) error {
	if r.lib == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	err := r.lib.next(ev)
	switch {
	case err == io.EOF && r.told == 2:
		r.at = len(r.all)
		return io.EOF
	case err == io.EOF: // in a table
		return r.lose(fmt.Errorf("%w: %w", damage.ErrDamaged, io.ErrUnexpectedEOF))
	case err != nil:
		return r.lose(err)
	}
	if ev.kind == kindGeneration {
		r.told++
	}
	if r.told == 2 && r.at < len(r.all)-1 {
		r.turn(ev)
		return nil
	}
	ev.time = max(ev.time, r.last+1)
	r.last = ev.time
	return nil
}

// begin begins with a generation.
func (r *reader) begin() (err error) {
	if r.at == len(r.all) {
		return io.EOF
	}
	g := &r.all[r.at]
	if before := r.before; before != 0 && g.number != before+1 {
		r.before = 0
		return missing(g, before)
	}
	r.told = 0
	if r.lib, err = newLibrary(newFeed(r.r, r.version, g)); err != nil {
		return r.lose(err)
	}
	return nil
}

// turn lets go of a generation: where the library tells of the end of a trace, it
// is over.
func (r *reader) turn(ev *event) {
	r.before = r.all[r.at].number
	r.at, r.lib = r.at+1, nil
	*ev = event{kind: kindOver, time: r.last, goroutine: none, processor: none, thread: none}
}

// lose gives up the generation in which the library failed.
func (r *reader) lose(err error) error {
	g := &r.all[r.at]
	r.at, r.lib, r.before = r.at+1, nil, 0
	return &lostError{damage.Error{Off: g.from, Err: err}, 1, g.to - g.from}
}

// missing says that others lie between generation before and g.
func missing(g *generation, before uint64) error {
	count := int64(1)
	if g.number > before {
		count = int64(min(g.number-before-1, maxGenerations))
	}
	return &lostError{damage.Error{Off: g.from, Err: fmt.Errorf("%w: generation %d follows %d", damage.ErrDamaged, g.number, before)}, count, 0}
}

// done is how many bytes have been read, about.
func (r *reader) done() int64 {
	if r.at == len(r.all) {
		return r.all[len(r.all)-1].to
	}
	return r.all[r.at].from
}

// firstLine is what an error of the library says first: it goes on with all that
// it knows.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(line, ":")
}
