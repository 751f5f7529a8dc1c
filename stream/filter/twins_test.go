package filter_test

import (
	"maps"
	"testing"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// Of a process that was recorded twice, samples and waits count once: those of the twin,
// while it was recorded. Rows of kinds that the twin lacks stay.
func TestWithoutTwins(t *testing.T) {
	const hz = 1000
	type tally struct{ samples, waits int64 } // rows
	for _, c := range []struct {
		name           string
		interval, wait int64 // of the twin: ns between samples, ns of its waits
		twin, other    tally
	}{
		{"has both", hz, 5, tally{3, 3}, tally{2, 2}},
		{"samples only", hz, 0, tally{3, 0}, tally{2, 5}},
		{"waits only", 0, 5, tally{0, 3}, tally{5, 2}},
	} {
		b := streamtest.NewBuilder()
		twin := b.Process(stream.Process{Instance: 1, Start: 100, End: 200, Interval: c.interval})
		other := b.Process(stream.Process{Instance: 2, Start: 101, End: 300, Interval: hz, Twin: 1})
		stack := b.Stack("main.main")
		for _, at := range []stream.Time{100, 150, 200} {
			if c.interval != 0 {
				twin.Main.Sample(at, stack)
			}
			if c.wait != 0 {
				twin.Main.Wait(at, stack, c.wait, 1)
			}
		}
		for _, at := range []stream.Time{99, 100, 150, 200, 201} {
			other.Main.Sample(at, stack)
			other.Main.Wait(at, stack, 7, 1)
		}
		var count stream.Count
		if err := stream.Copy(filter.WithoutTwins(&count), b.Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		got := map[stream.ProcessID]tally{1: {}, 2: {}}
		for _, s := range count.Series {
			of := got[s.Process]
			switch s.Kind {
			case stream.Samples:
				of.samples += s.Rows
			case stream.Waits:
				of.waits += s.Rows
			}
			got[s.Process] = of
		}
		if want := map[stream.ProcessID]tally{1: c.twin, 2: c.other}; !maps.Equal(got, want) {
			t.Errorf("%s: rows %v, want %v", c.name, got, want)
		}
	}
}
