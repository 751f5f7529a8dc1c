package convert

import (
	"bytes"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// measured is a profile of another tool, without samples.
func measured() *streamtest.Builder {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop", Start: 1, End: 10,
		Profile: stream.Profile{Types: []stream.ValueType{{Name: "calls", Unit: "count"}, {Name: "wall", Unit: "nanoseconds"}}}})
	calls := p.Counter(stream.Counter{Name: "calls", Measure: true})
	wall := p.Counter(stream.Counter{Name: "wall", Unit: stream.FormatNanoseconds, Measure: true})
	p.Main.Measure(1, calls, b.Stack("main.main", "main.read"), 3)
	p.Main.Measure(1, wall, b.Stack("main.main", "main.read"), 5_000_000)
	p.Main.Measure(1, wall, b.Stack("main.main"), 250_000)
	p.Main.Measure(1, wall, b.Stack("main.main", "main.wait"), -7)
	return b
}

// Flame graphs and folded stacks of a profile without samples are of what it measures, and the ledger tells of what
// else there is.
func TestMeasuredProfiles(t *testing.T) {
	for name, want := range map[string][]string{
		"folded": {"main.main 250000\n", "main.main;main.read 5000000\n"},
		"svg":    {"1 process · 5.25ms of wall", "main.read: 5ms, 95.24 %", "Width is wall."},
		"html":   {`"of":"wall","unit":"ns"`},
		"png":    {"PNG"},
	} {
		format, o, err := ByFormat(name)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		sink, err := format.New(&out, o)
		if err != nil {
			t.Fatal(err)
		}
		told := &toldSink{Sink: sink}
		if err := stream.Copy(told, measured().Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: no %q in\n%.4000s", name, text, out.String())
			}
		}
		left := map[string]int64{}
		for _, line := range told.tables.Ledger.Lines() {
			left[line.Reason.String()] += line.Count
		}
		if left[stream.ReasonNoPlace.String()] != 2 {
			t.Errorf("%s: left out are %v", name, left)
		}
	}
}
