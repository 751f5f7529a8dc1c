package filter

import (
	"errors"
	"io"

	"gprof/stream"
)

// replay is a source that is read to its end before it returns anything, so that whether
// a row is kept may depend on later rows. To read the input twice instead would mean to
// decode it and load its dictionaries twice, and to see two states of a recording that
// goes on.
type replay struct {
	stream.Wrapper
	spool *stream.Spool
	see   func(*stream.Batch) error // gets each batch before any is returned
	err   error                     // of reading
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
	for !r.Full() {
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

// Close implements [io.Closer].
func (r *replay) Close() error {
	r.spool.Close()
	return r.Wrapper.Close()
}
