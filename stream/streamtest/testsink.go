package streamtest

import (
	"bytes"
	"errors"
	"io"
	"runtime/debug"
	"testing"

	"gprof/stream"
)

// TestSink is a conformance suite for sinks: newSink returns one that writes to w, check
// looks at its output. check may be nil. For each of [Cases]
//
//   - the sink takes the events without an error or a panic and does not change the batches, and check accepts its output;
//   - the same events in another order give the same bytes;
//   - when w fails, after any number of bytes, that error is returned.
func TestSink(t *testing.T, newSink func(w io.Writer) stream.Sink, check func(t *testing.T, output []byte)) {
	for _, c := range Cases {
		t.Run(c.Name, func(t *testing.T) {
			b := NewBuilder()
			c.Build(b)
			output, err := write(newSink, b.Source())
			if err != nil {
				t.Fatalf("%v\nwhat is tested: %s", err, c.Why)
			}
			if check != nil {
				check(t, output)
			}
			again, err := write(newSink, b.Shuffled(1))
			if err != nil || !bytes.Equal(output, again) {
				t.Errorf("the same events in another order are written otherwise (%v)\nfirst:  %s\nsecond: %s", err, excerpt(output, again), excerpt(again, output))
			}
			testFailures(t, newSink, b, len(output))
			if t.Failed() {
				t.Log("what is tested:", c.Why)
			}
		})
	}
}

// write copies src to a new sink, through Validate. A panic becomes an error.
func write(newSink func(io.Writer) stream.Sink, src stream.Source) (output []byte, err error) {
	var out bytes.Buffer
	err = tryCopy(newSink(&out), src)
	return out.Bytes(), err
}

func tryCopy(sink stream.Sink, src stream.Source) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = invalid("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return stream.Copy(Validate(sink), src, stream.CopyOptions{})
}

// errFull is the error of a failing writer.
var errFull = errors.New("no space left for this test")

// limitedWriter is a Writer that fails after left bytes.
type limitedWriter struct {
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if len(p) > l.left {
		n := l.left
		l.left = 0
		return n, errFull
	}
	l.left -= len(p)
	return len(p), nil
}

// testFailures makes the writer fail at some places of an output of size bytes.
func testFailures(t *testing.T, newSink func(io.Writer) stream.Sink, b *Builder, size int) {
	t.Helper()
	for _, limit := range []int{0, 1, size / 3, size / 2, size - 1} {
		if limit < 0 || limit >= size {
			continue
		}
		if err := tryCopy(newSink(&limitedWriter{limit}), b.Source()); !errors.Is(err, errFull) {
			t.Errorf("the writer fails after %d of %d bytes: got the error %v, want %v", limit, size, err, errFull)
		}
	}
}

// excerpt is the part of a from where it differs from b.
func excerpt(a, b []byte) []byte {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-40):min(len(a), i+80)]
}
