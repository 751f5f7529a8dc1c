package stream

import "io"

// Source gives the events of one or more processes. A Source that holds resources,
// such as goroutines or files, is an [io.Closer] too, and whoever has read enough
// closes it.
type Source interface {
	// Next fills b, whatever it holds, with rows of one series. It returns
	// io.EOF, with no rows, when there are none left. Trouble with the input
	// that still leaves something to read is a line in the ledger, not an
	// error.
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

// Wrapper is embedded by a Source that changes the events of another. It passes on
// the tables, the progress and Close of the Source inside.
type Wrapper struct{ Source }

// Progress implements [Progress]; it returns 0, 0 if the Source inside does not.
func (w Wrapper) Progress() (done, total int64) {
	if p, ok := w.Source.(Progress); ok {
		return p.Progress()
	}
	return 0, 0
}

// Close implements [io.Closer].
func (w Wrapper) Close() error {
	if c, ok := w.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
