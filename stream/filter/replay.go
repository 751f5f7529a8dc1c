package filter

import (
	"errors"
	"io"

	"gprof/stream"
)

// replay is a source that was read to its end before it returns anything: so that
// what is kept of a row may depend on rows that come later. Reading the input
// twice instead would decode it twice, load its dictionaries twice, and see two
// states of a recording that goes on.
type replay struct {
	stream.Wrapper
	spool *stream.Spool
	see   func(*stream.Batch) error // each batch, before any is returned
	err   error                     // once it was read
	read  bool
}

// Next implements [Source].
func (r *replay) Next(b *stream.Batch) error {
	if !r.read {
		r.read = true
		if r.err = r.readAll(); r.err == nil {
			r.spool.Rewind()
		}
	}
	if r.err == nil {
		r.err = r.spool.Next(b)
	}
	if r.err != nil {
		b.Reset(stream.Series{}, 0)
	}
	return r.err
}

// readAll stops early when the tables are full; Copy then ends, too.
func (r *replay) readAll() error {
	var b stream.Batch
	for !r.full() {
		if err := r.Source.Next(&b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := b.Check(); err != nil {
			return err
		}
		if err := r.see(&b); err != nil {
			return err
		}
		if b.Len() > 0 {
			if err := r.spool.Write(&b); err != nil {
				return err
			}
		}
	}
	return io.EOF
}

// full asks only if nobody interns, which may take long; it is asked again.
func (r *replay) full() bool {
	t := r.Tables()
	if !t.TryLock() {
		return false
	}
	defer t.Unlock()
	return t.Full()
}

// Close implements [io.Closer].
func (r *replay) Close() error {
	r.spool.Close()
	return r.Wrapper.Close()
}
