package arrow

import (
	"io"
	"runtime"
	"testing"

	"gprof/convert/internal/tables"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// nowhere is a directory of files that nobody keeps.
type nowhere struct{ io.Writer }

func (n nowhere) Create(string) (io.WriteCloser, error) { return n, nil }
func (nowhere) Close() error                            { return nil }

// segment is how many rows come at a time.
const segment = 8192

// heldAfter is how much memory is in use when n segments of markers were written,
// and the sink is still open. A text in each makes them large.
func heldAfter(t *testing.T, n int) int64 {
	t.Helper()
	in := &stream.Tables{Processes: []stream.Process{{Name: "shop", Start: begin}}}
	s := stream.Series{Process: 1, Track: in.Tracks.Intern(stream.Track{Process: 1, Main: true}), Kind: stream.Markers}
	s.Event = in.AddEvent(stream.Event{Name: "get", Fields: []stream.EventField{{Name: "path", Type: stream.Text}}})
	sink := New(nowhere{io.Discard}, tables.Options{})
	if err := sink.Begin(in); err != nil {
		t.Fatal(err)
	}
	var b stream.Batch
	b.Reset(s, 1)
	for range segment {
		streamtest.AppendRow(&b, streamtest.Row{Series: s, Phase: stream.Interval, Args: []any{"/articles/of/the/shop"}})
	}
	for k := range n {
		for i := range b.Time {
			b.Time[i] = begin + stream.Time(k*segment+i)
		}
		if err := sink.Segment(&b); err != nil {
			t.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // a pool keeps what it holds through one
	runtime.ReadMemStats(&m)
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return int64(m.HeapAlloc)
}

// Memory does not grow with the number of rows: only those of an unfinished
// record batch wait. Both numbers of segments end where a batch does.
func TestMemory(t *testing.T) {
	const few, many = 16, 128
	heldAfter(t, few)
	small, large := heldAfter(t, few), heldAfter(t, many)
	if grown := large - small; grown > (many-few)*segment {
		t.Errorf("%d rows hold %d bytes, %d rows %d: more than a byte for each", few*segment, small, many*segment, large)
	}
}
