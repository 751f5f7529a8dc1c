package gotrace

import (
	"errors"
	"io"
	"strings"

	"gprof/ingest/internal/damage"
)

// reader gives the events of a trace one after the other. A generation that the
// library can't read costs what was left of it: reading goes on with the next.
type reader struct {
	r    io.ReaderAt
	all  []generation
	lib  *library
	from int // generation that lib began with
	seen int // generations that lib told of
}

// lostError is a part of a file that was not read. Reading may go on; what was
// known of the state of the program is not, any more.
type lostError struct {
	at   damage.Error
	size int64 // bytes of the generation
}

func (e *lostError) Error() string { return e.at.Error() }
func (e *lostError) Unwrap() error { return &e.at }

// next reads an event into ev. The error is io.EOF at the end, or a *lostError.
func (r *reader) next(ev *event) error {
	if r.lib == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	err := r.lib.next(ev)
	switch {
	case err == nil:
		if ev.kind == kindGeneration {
			r.seen++
		}
		return nil
	case errors.Is(err, io.EOF):
		r.from = len(r.all)
		return io.EOF
	}
	return r.lose(err)
}

// begin begins with generation from.
func (r *reader) begin() (err error) {
	if r.from >= len(r.all) {
		return io.EOF
	}
	from, to := r.all[r.from].from, r.all[len(r.all)-1].to
	head := io.NewSectionReader(r.r, 0, headerSize)
	r.seen = 0
	r.lib, err = newLibrary(io.MultiReader(head, io.NewSectionReader(r.r, from, to-from)))
	if err != nil {
		return r.lose(err)
	}
	return nil
}

// lose gives up the generation in which the library failed. It tells of each
// before it reads it, and of one that it can't read as well.
func (r *reader) lose(err error) error {
	at := min(r.from+max(r.seen-1, 0), len(r.all)-1)
	g := &r.all[at]
	r.lib, r.from = nil, at+1
	return &lostError{damage.Error{Off: g.from, Err: err}, g.to - g.from}
}

// done is how many bytes have been handed to the library, about.
func (r *reader) done() int64 {
	if r.from >= len(r.all) {
		return r.all[len(r.all)-1].to
	}
	return r.all[min(r.from+max(r.seen-1, 0), len(r.all)-1)].from
}

// firstLine is what an error of the library says first: it goes on with all that
// it knows.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(line, ":")
}
