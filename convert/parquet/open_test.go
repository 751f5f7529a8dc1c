package parquet

import (
	"fmt"
	"runtime"
	"testing"

	"gprof/convert/internal/tables"
	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// A program of more events than tables may be open has all its markers in the
// tables: those that were ended go on in other files.
func TestManyEvents(t *testing.T) {
	t.Parallel()
	const events, tracks = maxOpen + 20, 2
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 1, Service: "shop", Start: begin})
	var all []stream.EventID
	for i := range events {
		all = append(all, b.Event(stream.Event{Name: fmt.Sprint("event", i), Fields: []stream.EventField{{Name: "n", Type: stream.Int}}}))
	}
	for i := range tracks {
		track := p.Track(fmt.Sprint("track", i))
		for n, event := range all {
			track.Mark(begin+stream.Time(n), stream.Instant, event, n)
		}
	}
	dir, _ := convert(t, b.Source())
	answer := ask(t, dir, `SELECT count(*) AS n, count(DISTINCT name) AS events, count(DISTINCT (track_id, name)) AS once FROM 'typed_markers/**/*.parquet'`)[0][0]
	want := judges.Row{"n": fmt.Sprint(tracks * events), "events": fmt.Sprint(events), "once": fmt.Sprint(tracks * events)}
	for key := range want {
		if answer[key] != want[key] {
			t.Errorf("%s: %v, want %v", key, answer[key], want[key])
		}
	}
	if n := len(filesOf(t, dir+"/typed_markers")); n <= events {
		t.Errorf("%d files of markers for %d events: none was ended and begun again", n, events)
	}
}

// heldBy is how much memory a sink holds when the last of so many services is
// being written.
func heldBy(t *testing.T, services int) int64 {
	t.Helper()
	b := streamtest.NewBuilder()
	for i := range services {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: 1, Service: fmt.Sprint("service", i), Start: begin})
		p.Main.Sample(begin, b.Stack("main"))
	}
	held := &holding{Sink: New(streamtest.Joined{To: new(nowhere)}, tables.Options{}), services: services}
	if err := stream.Copy(held, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return held.most - held.first
}

// holding measures at the first and at the last process.
type holding struct {
	stream.Sink
	services    int
	first, most int64
}

func (h *holding) Segment(b *stream.Batch) error {
	err := h.Sink.Segment(b)
	if id := int(b.Series.Process); id == 1 || id == h.services {
		runtime.GC()
		runtime.GC() // a pool keeps what it holds through one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		h.first, h.most = h.most, int64(m.HeapAlloc)
	}
	return err
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// Rows of a service that are written are not held until the end of the run.
func TestServicesLetGo(t *testing.T) {
	const services, each = 100, 20 << 10 // a single open table is ten times as large
	heldBy(t, services)
	if held := heldBy(t, services); held > services*each {
		t.Errorf("%d services that are written hold %d bytes", services, held)
	}
}
