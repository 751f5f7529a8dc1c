package stream

import (
	"errors"
	"io"
)

// Source gives the events of one or more processes. A Source that holds resources, such
// as goroutines or files, is an [io.Closer], too. Its reader closes it, after io.EOF or
// earlier.
type Source interface {
	// Next replaces the content of b by rows of one series. When there are none left it
	// returns io.EOF, with no rows. Trouble with the input is a line in the ledger, not
	// an error, as long as something is left to read.
	Next(b *Batch) error
	// Tables holds what the rows refer to. They are complete after io.EOF.
	Tables() *Tables
}

// Spreader is a Source that can give its rows on several goroutines at a time. So they stay on the
// core that read them until they are sorted and packed.
type Spreader interface {
	Source
	// Spread gives all rows, instead of Next. Taker is called for each of the goroutines; what it
	// returns, only on that one. That may reorder the rows of a batch, and keeps none of it. After
	// an error no more is given than is on its way. All goroutines have ended when Spread returns.
	Spread(taker func() func(*Batch) error) error
}

// Spread gives all rows of src as a [Spreader] does, on one goroutine if it is none.
func Spread(src Source, taker func() func(*Batch) error) error {
	if s, ok := src.(Spreader); ok {
		return s.Spread(taker)
	}
	take := taker()
	for b := new(Batch); ; {
		if err := src.Next(b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := take(b); err != nil {
			return err
		}
	}
}

// Progress is a Source that knows how far it has come.
type Progress interface {
	// Progress returns how many bytes of the input were read, of how many. A total
	// of 0 is unknown.
	Progress() (done, total int64)
}

// Wrapper is embedded by a Source that changes the events of another one. It passes on
// the tables, the progress and Close of the inner Source.
type Wrapper struct{ Source }

// Progress implements [Progress]; it returns 0, 0 if the inner Source does not.
func (w Wrapper) Progress() (done, total int64) {
	if p, ok := w.Source.(Progress); ok {
		return p.Progress()
	}
	return 0, 0
}

// Full reports whether the tables are full, so that reading on is in vain. It does not wait for
// them, which a Source may use for long: ask again.
func (w Wrapper) Full() bool {
	t := w.Tables()
	if !t.TryLock() {
		return false
	}
	defer t.Unlock()
	return t.Full()
}

// Close implements [io.Closer].
func (w Wrapper) Close() error {
	if c, ok := w.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
