package chrometrace

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand"
	"testing"

	"gprof/convert/internal/pipeline"
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

func TestSink(t *testing.T) {
	streamtest.TestSink(t, newSink, func(t *testing.T, output []byte) { read(t, output) })
}

// file is what a file holds.
type file struct {
	TraceEvents []struct {
		Ph, Name, Cat, ID string
		Pid, Tid          int64
		Ts, Dur           json.Number
		SF                int
		Args              map[string]any
	}
	StackFrames map[string]struct {
		Name   string
		Parent json.Number
	}
	Samples []struct {
		Pid, Tid, Weight int64
		SF               json.Number
	}
}

// read checks that stacks are there, and processes and threads have names.
func read(t *testing.T, output []byte) (f file) {
	t.Helper()
	if err := json.Unmarshal(output, &f); err != nil {
		t.Fatalf("%v in %.200s", err, output)
	}
	named := map[[2]int64]bool{}
	for _, e := range f.TraceEvents {
		switch {
		case e.Ph == "M":
			named[[2]int64{e.Pid, e.Tid}] = true
		case !named[[2]int64{e.Pid, e.Tid}]:
			t.Errorf("an event of %d, %d, which have no name", e.Pid, e.Tid)
		}
	}
	for _, s := range f.Samples {
		if _, ok := f.StackFrames[s.SF.String()]; !ok && s.SF != "" || !named[[2]int64{s.Pid, s.Tid}] {
			t.Errorf("a sample of %d, %d has stack %s", s.Pid, s.Tid, s.SF)
		}
	}
	for id, frame := range f.StackFrames {
		if _, ok := f.StackFrames[frame.Parent.String()]; !ok && frame.Parent != "" {
			t.Errorf("stack %s has the caller %s", id, frame.Parent)
		}
	}
	return f
}

// A flow goes from its first slice over others to its last, in the order of time, whatever tracks and processes they are of.
func TestFlows(t *testing.T) {
	b := streamtest.NewBuilder()
	id := stream.EventField{Name: "id", Type: stream.Uint, Format: stream.FormatFlow}
	last := stream.EventField{Name: "id", Type: stream.Uint, Format: stream.FormatFlowEnd}
	step, end := b.Event(stream.Event{Name: "step", Fields: []stream.EventField{id}}), b.Event(stream.Event{Name: "end", Fields: []stream.EventField{last}})
	one, two := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "one", Start: 1}), b.Process(stream.Process{Instance: 2, Pid: 2, Name: "two", Start: 1})
	random := rand.New(rand.NewSource(1))
	for flow := range 100 {
		at := 1000 + stream.Time(random.Intn(1000))
		two.Main.Interval(at, 10, step, uint64(flow))
		one.Track("a").Interval(at+100, 10, step, uint64(flow))
		one.Track("b").Interval(at+50, 10, step, uint64(flow))
		two.Track("c").Interval(at+200, 10, end, uint64(flow))
	}
	var out bytes.Buffer
	if err := stream.Copy(newSink(&out), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	phases := map[string]string{}
	for _, e := range read(t, out.Bytes()).TraceEvents {
		if e.Name == "flow" {
			phases[e.ID] += e.Ph
		}
	}
	if len(phases) != 100 {
		t.Errorf("%d flows", len(phases))
	}
	for id, got := range phases {
		if got != "sttf" {
			t.Errorf("flow %s is %s", id, got)
		}
	}
}
