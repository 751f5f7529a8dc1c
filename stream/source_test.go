package stream

import (
	"errors"
	"io"
	"testing"
)

// closeCounter is a source with nothing in it that counts how often it is closed.
type closeCounter struct {
	tables Tables
	err    error
	closed int
}

func (c *closeCounter) Next(*Batch) error { return c.err }

func (c *closeCounter) Tables() *Tables { return &c.tables }

func (c *closeCounter) Close() error { c.closed++; return nil }

// Copy closes its source once, whether it was read to its end or not.
func TestCopyCloses(t *testing.T) {
	broken := errors.New("broken")
	for _, err := range []error{io.EOF, broken} {
		src := &closeCounter{err: err}
		if got := Copy(Discard, Merge(&src.tables, src), CopyOptions{}); err == broken && !errors.Is(got, broken) || src.closed != 1 {
			t.Errorf("after %v: closed %d times, %v", err, src.closed, got)
		}
	}
}
