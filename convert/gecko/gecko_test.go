package gecko

import (
	"io"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

func newSink(w io.Writer) stream.Sink { return New(w) }

func TestSink(t *testing.T) { streamtest.TestSink(t, newSink, check) }
