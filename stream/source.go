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
	// Spread gives all rows, instead of Next. Taker is called for each of the goroutines, and what it
	// returns is used on that one only. After an error no more is given than is on its way. All
	// goroutines have ended when Spread returns.
	Spread(taker func() Taker) error
}

// Taker takes rows. It may reorder those of a batch, and keeps none of what it gets.
type Taker interface {
	Take(b *Batch) error
	// TakeMixture takes the rows of many series. Unmix gives them to Take.
	TakeMixture(m Mixture) error
}

// Mixture is samples of so many series that making a batch for the few rows of each would take long.
type Mixture interface {
	// Series is how many there are. Of returns one of them, and Rows the numbers of its rows, which may be none.
	Series() int
	Of(i int) Series
	Rows(i int) []int32
	// Arrange says in which order series had better come from the next time on: what is known of each is then read from the
	// first to the last one. It may be ignored.
	Arrange(order []int32)
	// Samples are all rows, by their numbers.
	Samples() []SampleRow
}

// Unmix gives to rows of a mixture, series by series, in b.
func Unmix(m Mixture, b *Batch, to func(*Batch) error) error {
	for i := range m.Series() {
		if err := unmix(m, i, b, to); err != nil {
			return err
		}
	}
	return nil
}

func unmix(m Mixture, i int, b *Batch, to func(*Batch) error) error {
	rows := m.Rows(i)
	if len(rows) == 0 {
		return nil
	}
	b.Reset(m.Of(i), 0)
	b.AppendSamples(m.Samples(), rows)
	b.DropZeros()
	return to(b)
}

// DropZeros empties the columns of the owner that have no values.
func (b *Batch) DropZeros() {
	b.Thread, b.Goroutine, b.Labels, b.Span = dropZeros(b.Thread), dropZeros(b.Goroutine), dropZeros(b.Labels), dropZeros(b.Span)
}

func dropZeros[T comparable](column []T) []T {
	var none T
	for _, v := range column {
		if v != none {
			return column
		}
	}
	return column[:0]
}

// Spread gives all rows of src as a [Spreader] does, on one goroutine if it is none.
func Spread(src Source, taker func() Taker) error {
	if s, ok := src.(Spreader); ok {
		return s.Spread(taker)
	}
	to := taker()
	for b := new(Batch); ; {
		if err := src.Next(b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := to.Take(b); err != nil {
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
