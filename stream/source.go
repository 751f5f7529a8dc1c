package stream

import "io"

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
