package chrometrace

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/jsonfile"
)

// walk goes through a file from its front, event by event.
type walk struct {
	scan   *jsonfile.Scanner
	size   int64
	within bool                                  // the list of events
	object bool                                  // the list is a member of an object
	part   func(key string, s *jsonfile.Scanner) // reads another member, at most once
	lists  int                                   // of events
	openAt int64                                 // where a list ended that has no end; 0: none
	off    int64                                 // of the last event
	err    error
}

// newWalk begins a walk. part is called for each other member of an object, and must read its value.
func newWalk(r io.ReaderAt, size int64, part func(key string, s *jsonfile.Scanner)) *walk {
	w := &walk{size: size, part: part}
	off := int64(0)
	mark := make([]byte, 3)
	if n, _ := r.ReadAt(mark, 0); n == 3 && string(mark) == "\ufeff" {
		off = 3
	}
	w.scan = jsonfile.NewScanner(r, off, size)
	switch w.scan.Kind() {
	case jsonfile.Array:
		w.scan.Array()
		w.within, w.lists = true, 1
	case jsonfile.Object:
		w.scan.Object()
		w.object = true
	default:
		w.err = cmp.Or(w.scan.Err(), error(&damage.Error{Off: w.scan.Off(), Err: fmt.Errorf("%w: want a list or an object", ErrForeign)}))
	}
	return w
}

// next is the next event, as JSON, valid until the next call; nil at the end.
func (w *walk) next() []byte {
	for w.err == nil {
		if !w.within && !w.members() {
			break
		}
		if !w.scan.More() {
			w.endList()
			continue
		}
		w.off = w.scan.Off()
		if raw := w.scan.Raw(); raw != nil {
			return raw
		}
		w.err = w.scan.Err()
	}
	return nil
}

// members reads members of the object up to the list of events. It reports whether there is one.
func (w *walk) members() bool {
	for w.object {
		key, ok := w.scan.Key()
		if !ok {
			break
		}
		if string(key) == "traceEvents" && w.scan.Kind() == jsonfile.Array {
			w.scan.Array()
			w.within = true
			w.lists++
			return true
		}
		w.part(string(key), w.scan)
	}
	w.err = cmp.Or(w.scan.Err(), io.EOF)
	return false
}

// endList ends the list of events. One that is the whole file may lack its end.
func (w *walk) endList() {
	w.within = false
	err := w.scan.Err()
	var at *damage.Error
	switch {
	case err == nil && w.object:
	case err == nil:
		w.err = io.EOF
	case !w.object && errors.As(err, &at) && errors.Is(err, damage.ErrTorn) && at.Off >= w.size:
		w.openAt, w.err = at.Off, io.EOF
	default:
		w.err = err
	}
}

// damaged is what is wrong with the file, nil if nothing is.
func (w *walk) damaged() error {
	if w.err == io.EOF {
		return nil
	}
	return w.err
}
