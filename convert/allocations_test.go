package convert

import (
	"io"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// toldSink is a Sink that keeps the tables, to whose ledger it adds.
type toldSink struct {
	stream.Sink
	tables *stream.Tables
}

func (s *toldSink) Begin(t *stream.Tables) error {
	s.tables = t
	return s.Sink.Begin(t)
}

// Labels of allocations have a place in pprof's format. A profile for the viewer tells how many have
// none; the size of objects, which heap profiles have as a label, is told by their bytes.
func TestLabelsOfAllocations(t *testing.T) {
	for name, want := range map[string]int64{"pprof": 0, "gecko": 1, "firefox": 1} {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Name: "shop", Start: 1})
		for i, key := range []string{"bytes", "customer"} {
			labels := b.Tables.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: key, Value: "16"}))
			p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Allocations}, Time: stream.Time(i + 1), Stack: b.Stack("main.keep"), Value: 16, Number: 1, Owner: stream.Owner{Labels: labels}})
		}
		format, o, err := ByFormat(name)
		if err != nil {
			t.Fatal(err)
		}
		sink, err := format.New(io.Discard, o)
		if err != nil {
			t.Fatal(err)
		}
		told := &toldSink{Sink: sink}
		if err := stream.Copy(told, b.Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		lost := int64(0)
		for _, line := range told.tables.Ledger.Lines() {
			if line.Reason == stream.ReasonUnsupported {
				lost += line.Count
			}
		}
		if lost != want {
			t.Errorf("%s: %d details of allocations are lost, want %d: %v", name, lost, want, told.tables.Ledger.Lines())
		}
	}
}
