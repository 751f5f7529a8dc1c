package parquet

import (
	"fmt"
	"io"
	"testing"

	"gprof/convert/internal/tables"
	"gprof/stream"
	"gprof/stream/streamtest"
)

func TestSink(t *testing.T) {
	streamtest.TestSink(t, func(w io.Writer) stream.Sink { return New(streamtest.Joined{To: w}, tables.Options{}) }, nil)
}

// instance is how the tables name a process.
func instance(n uint64) string { return fmt.Sprintf("%016x", n) }

// convert writes the events of src to a new directory, and returns it with what
// went through.
func convert(t *testing.T, src stream.Source) (string, *stream.Count) {
	t.Helper()
	dir, count := t.TempDir(), new(stream.Count)
	if err := stream.Copy(stream.Tee(New(streamtest.OnDisk(dir), tables.Options{}), count), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir, count
}
