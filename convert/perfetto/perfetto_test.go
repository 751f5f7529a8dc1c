package perfetto

import (
	"bytes"
	"io"
	"testing"

	"gprof/convert/internal/pipeline"
	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
	"gprof/stream/streamtest"
)

func newSink(w io.Writer) stream.Sink {
	out, err := pipeline.New(w, pipeline.Options{Jobs: 2})
	if err != nil {
		panic(err)
	}
	return New(out, "")
}

func TestSink(t *testing.T) { streamtest.TestSink(t, newSink, check) }

// check checks that all is packets, of which none refers to interned data that was not sent before. Package fixtures
// lets Perfetto read the same.
func check(t *testing.T, output []byte) {
	t.Helper()
	sent := map[int]map[uint64]bool{}
	trace := protobuf.Message{Rest: output}
	for f, ok := trace.Read(); ok; f, ok = trace.Read() {
		packet := protobuf.Message{Rest: f.Bytes}
		for p, ok := packet.Read(); ok; p, ok = packet.Read() {
			switch p.Number {
			case pb.PacketInternedData:
				note(t, sent, p.Bytes)
			case pb.PacketTrackEvent:
				refers(t, sent, p.Bytes, map[int]int{pb.EventNameID: pb.InternedEventName, pb.EventCategory: pb.InternedCategory, pb.EventCallstack: pb.InternedCallstack})
			case pb.PacketPerfSample:
				refers(t, sent, p.Bytes, map[int]int{pb.SampleCallstack: pb.InternedCallstack})
			}
		}
		if packet.Bad {
			t.Error("a packet is damaged")
		}
	}
	if trace.Bad {
		t.Error("the trace is damaged")
	}
}

// note notes what is sent, each once.
func note(t *testing.T, sent map[int]map[uint64]bool, interned []byte) {
	t.Helper()
	rows := protobuf.Message{Rest: interned}
	for row, ok := rows.Read(); ok; row, ok = rows.Read() {
		var numbers protobuf.Numbers
		numbers.Read(row.Bytes)
		if sent[row.Number] == nil {
			sent[row.Number] = map[uint64]bool{}
		}
		if id := numbers[pb.InternedID]; sent[row.Number][id] || id == 0 {
			t.Errorf("interned data %d has a row %d twice, or none", row.Number, id)
		}
		sent[row.Number][numbers[pb.InternedID]] = true
	}
	if rows.Bad {
		t.Error("interned data is damaged")
	}
}

// refers checks that a message refers to what was sent.
func refers(t *testing.T, sent map[int]map[uint64]bool, message []byte, to map[int]int) {
	t.Helper()
	fields := protobuf.Message{Rest: message}
	for f, ok := fields.Read(); ok; f, ok = fields.Read() {
		if in, is := to[f.Number]; is && !sent[in][f.Value] {
			t.Errorf("field %d refers to row %d of interned data %d, which was not sent", f.Number, f.Value, in)
		}
	}
}

// What only other outputs of a run need, such as the stack of a sample that stands for none, is not sent.
func TestNothingUnused(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop"})
	p.Main.Sample(1, b.Stack("main.main", "main.used"))
	p.Main.Add(streamtest.Row{Time: 2, Stack: b.Stack("main.main", "main.never")})
	p.Main.Mark(2, stream.Instant, b.Event(stream.Event{Name: "seen"}))
	var out bytes.Buffer
	if err := stream.Copy(newSink(&out), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"main.used": true, "seen": true, "main.never": false} {
		if got := bytes.Contains(out.Bytes(), []byte(text)); got != want {
			t.Errorf("%s is in the trace: %v", text, got)
		}
	}
}

// JSON becomes arguments; what is none, or too deep, stays a text.
func TestJSON(t *testing.T) {
	for text, want := range map[string]int{
		`{"a":[1,2.5,true,null,"x"]}`: pb.AnnotationDict,
		`[[1],[2]]`:                   pb.AnnotationArray,
		`1e999`:                       pb.AnnotationDouble,
		`12345678901234567890`:        pb.AnnotationDouble,
		`-7`:                          pb.AnnotationInt,
		`false`:                       pb.AnnotationBool,
		`null`:                        pb.AnnotationString,
		`{"a":`:                       pb.AnnotationString,
		``:                            pb.AnnotationString,
		nested(maxDepth - 1):          pb.AnnotationArray,
		nested(maxDepth + 1):          pb.AnnotationString,
		nested(10_000_000):            pb.AnnotationString,
		"\"a\\u0000b\xff\"":           pb.AnnotationString,
	} {
		m := protobuf.Message{Rest: appendText(nil, stream.JSON, []byte(text))}
		f, ok := m.Read()
		if !ok || f.Number != want {
			t.Errorf("%.40s is field %v, want %d", text, f, want)
		}
	}
}

func nested(depth int) string {
	return string(bytes.Repeat([]byte("["), depth)) + string(bytes.Repeat([]byte("]"), depth))
}
