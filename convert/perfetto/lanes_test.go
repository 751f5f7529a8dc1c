package perfetto

import (
	"bytes"
	"math/rand"
	"testing"

	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// event is a TrackEvent of a trace, with what the test wants of it.
type event struct {
	at                 uint64
	typ, track, number uint64
	goroutine          uint64
}

// eventsOf are those that are slices, in the order of the trace.
func eventsOf(t *testing.T, output []byte) (all []event) {
	t.Helper()
	trace := protobuf.Message{Rest: output}
	for f, ok := trace.Read(); ok; f, ok = trace.Read() {
		packet := protobuf.Message{Rest: f.Bytes}
		e, is := event{}, false
		for p, ok := packet.Read(); ok; p, ok = packet.Read() {
			switch p.Number {
			case pb.PacketTimestamp:
				e.at = p.Value
			case pb.PacketTrackEvent:
				is = true
				e.read(p.Bytes)
			}
		}
		if is && e.typ != pb.Counter {
			all = append(all, e)
		}
	}
	return all
}

func (e *event) read(body []byte) {
	m := protobuf.Message{Rest: body}
	arguments := 0
	for f, ok := m.Read(); ok; f, ok = m.Read() {
		switch f.Number {
		case pb.EventType:
			e.typ = f.Value
		case pb.EventTrack:
			e.track = f.Value
		case pb.EventAnnotation:
			var numbers protobuf.Numbers
			numbers.Read(f.Bytes)
			if arguments++; arguments == 1 {
				e.number = numbers[pb.AnnotationInt]
			} else {
				e.goroutine = numbers[pb.AnnotationInt]
			}
		}
	}
}

// Intervals of several goroutines on one track, of which many overlap, are slices as long as they were, each inside of
// slices of its own goroutine only.
func TestLanes(t *testing.T) {
	for seed := range int64(200) {
		random := rand.New(rand.NewSource(seed))
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop"})
		track := p.Track("worker")
		type interval struct {
			start, end uint64
			goroutine  uint64
		}
		want := map[uint64]interval{}
		span := 1 + random.Intn(300)
		for n := range 1 + random.Intn(80) {
			e := b.Event(stream.Event{Name: "e", Chart: string(rune('a' + random.Intn(4))), Fields: []stream.EventField{{Name: "n", Type: stream.Int}}})
			start, length := uint64(1000+random.Intn(span)), uint64(random.Intn(span))
			goroutine := uint64(1 + random.Intn(4))
			want[uint64(n)] = interval{start, start + length, goroutine}
			track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: stream.Time(start), Phase: stream.Interval, Duration: int64(length),
				Args: []any{n}, Owner: stream.Owner{Goroutine: int64(goroutine)}})
		}
		var out bytes.Buffer
		if err := stream.Copy(newSink(&out), b.Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		open, found, last := map[uint64][]event{}, 0, uint64(0)
		for _, e := range eventsOf(t, out.Bytes()) {
			if e.number == 0 && e.goroutine == 0 && e.typ == pb.SliceBegin {
				break // the recording
			}
			if e.at < last {
				t.Fatalf("seed %d: %d comes after %d", seed, e.at, last)
			}
			last = e.at
			stack := open[e.track]
			if e.typ == pb.SliceBegin {
				if len(stack) > 0 && stack[len(stack)-1].goroutine != e.goroutine {
					t.Fatalf("seed %d: a slice of goroutine %d is inside of one of %d", seed, e.goroutine, stack[len(stack)-1].goroutine)
				}
				open[e.track] = append(stack, e)
				continue
			}
			if len(stack) == 0 {
				t.Fatalf("seed %d: an end without a start", seed)
			}
			begin := stack[len(stack)-1]
			open[e.track] = stack[:len(stack)-1]
			if got := (interval{begin.at, e.at, begin.goroutine}); got != want[begin.number] {
				t.Fatalf("seed %d: %d is %v, want %v", seed, begin.number, got, want[begin.number])
			}
			found++
		}
		if found != len(want) {
			t.Fatalf("seed %d: %d slices, want %d", seed, found, len(want))
		}
	}
}

// Starts that never end take lanes, but only so many.
func TestManyLanes(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop"})
	e := b.Event(stream.Event{Name: "e"})
	for n := range 4096 + 10 {
		p.Main.Mark(stream.Time(n+1), stream.PhaseStart, e)
	}
	var out bytes.Buffer
	sink := stream.NewOutput(newSink(&out))
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	lines := sink.Added()
	if len(lines) != 1 || lines[0].Reason != stream.ReasonCut || lines[0].Count != 10 {
		t.Errorf("the ledger says %v", lines)
	}
}
