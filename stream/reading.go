package stream

import (
	"errors"
	"io"
)

// reader takes rows from a source.
type reader struct {
	sorter  *Sorter
	ceiling ceiling
	meter   meter
}

// read takes all rows of src.
func (r *reader) read(src Source) error {
	progress, _ := src.(Progress)
	var b Batch
	for {
		if err := src.Next(&b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if err := r.sorter.Add(&b); err != nil {
			return err
		}
		done, total := r.sorter.total, int64(0)
		if progress != nil {
			if bytes, all := progress.Progress(); all > 0 {
				done, total = bytes, all
			}
		}
		r.meter.to(done, total)
		if err := r.ceiling.check(done, total); err != nil {
			return err
		}
	}
	r.meter.finish()
	return r.ceiling.verdict(1, 1)
}
