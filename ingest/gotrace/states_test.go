package gotrace

import (
	"cmp"
	"slices"
	"testing"

	"gprof/stream"
)

// stateSink collects the states of goroutines.
type stateSink struct {
	tables *stream.Tables
	all    map[int64][]told
	sums   map[string]int64 // ns by state
	groups [4]int64         // running, runnable, waiting, calling, as the markers about groups have it
	wakes  int
	wrong  []int64
}

type told struct {
	from, to stream.Time
	name     string
	stack    stream.StackID
}

func (s *stateSink) Begin(t *stream.Tables) error { s.tables = t; return nil }
func (s *stateSink) Close() error                 { return nil }

func (s *stateSink) Segment(b *stream.Batch) error {
	if b.Series.Kind != stream.Markers {
		return nil
	}
	name := s.tables.Event(b.Series.Event).Name
	for i := range b.Len() {
		switch name {
		case StateEvent:
			x := told{b.Time[i], b.Time[i] + stream.Time(b.Duration[i]), string(b.Args[0].TextAt(i)), b.Stack[i]}
			s.all[b.Goroutine[i]] = append(s.all[b.Goroutine[i]], x)
			s.sums[x.name] += b.Duration[i]
		case WakeEvent:
			s.wakes++
			if b.Goroutine[i] == int64(b.Args[0].BitsAt(i)) {
				s.wrong = append(s.wrong, b.Goroutine[i])
			}
		case "goroutines":
			for k := range s.groups {
				s.groups[k] += int64(b.Args[2+k].BitsAt(i))
			}
		}
	}
	return nil
}

// The states of a goroutine follow each other without a gap, and are as long together as what is told of all
// goroutines of a root function. Without the option there are none.
func TestStates(t *testing.T) {
	data := record(t)
	for _, wanted := range []bool{true, false} {
		src, err := sourceOf(data, Options{States: wanted})
		if err != nil {
			t.Fatal(err)
		}
		s := &stateSink{all: map[int64][]told{}, sums: map[string]int64{}}
		if err := stream.Copy(s, src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if !wanted {
			if len(s.all) > 0 || s.wakes > 0 {
				t.Errorf("%d goroutines have states that nobody asked for", len(s.all))
			}
			continue
		}
		for g, all := range s.all {
			slices.SortFunc(all, func(a, b told) int { return cmp.Compare(a.from, b.from) })
			for i := range all[1:] {
				// Each generation reads the clocks anew.
				if gap := all[i+1].from - all[i].to; gap > 100_000 || gap < -100_000 {
					t.Fatalf("goroutine %d is %s until %d and %s from %d", g, all[i].name, all[i].to, all[i+1].name, all[i+1].from)
				}
			}
		}
		for k, got := range [4]int64{s.sums[StateRunning] + s.sums[StateAssist], s.sums[StateRunnable] + s.sums[StateStopped], s.sums[StateWaiting], s.sums[StateCalling]} {
			if off := got - s.groups[k]; off > s.groups[k]/100+1_000_000 || off < -s.groups[k]/100-1_000_000 {
				t.Errorf("%s: goroutines are so for %d ns together, their states last %d", stateNames[[]state{running, runnable, waiting, calling}[k]], s.groups[k], got)
			}
		}
		if s.sums[StateAssist] == 0 || s.wakes == 0 || len(s.wrong) > 0 {
			t.Errorf("%d ns of help for the collector, %d wake-ups, by themselves: %d", s.sums[StateAssist], s.wakes, s.wrong)
		}
	}
}
