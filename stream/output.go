package stream

import (
	"cmp"
	"fmt"
	"slices"

	"gprof/stream/internal/runs"
)

// output is one series as the sink sees it.
type output struct {
	series Series
	args   int // columns
	runs   []runs.Run
}

// settle makes the final tables, and the series in the order in which a sink
// is given them, with the final ids.
func settle(s *Sorter, t *Tables) (*Tables, []output, *renumbering, error) {
	names := make([]Series, len(s.series))
	for i, r := range s.series {
		names[i] = r.series
	}
	final, ids, err := freeze(t, names, s.stacks, s.labels)
	if err != nil {
		return nil, nil, nil, err
	}
	final.goroutines, final.cpu = s.goroutines, s.cpu
	outputs, err := collect(s.series, final, ids)
	s.forget()
	return final, outputs, ids, err
}

// collect gives the series their final ids and order. Several series of the
// source may turn out to be the same.
func collect(series []*rows, t *Tables, ids *renumbering) ([]output, error) {
	all := make([]output, len(series))
	for i, r := range series {
		all[i] = output{series: ids.series(r.series), args: r.args, runs: r.runs}
		if err := t.checkSeries(all[i].series, r.args); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b output) int { return a.series.Compare(b.series) })
	unique := all[:0]
	for _, o := range all {
		if n := len(unique); n > 0 && unique[n-1].series == o.series {
			unique[n-1].runs = append(unique[n-1].runs, o.runs...)
		} else {
			unique = append(unique, o)
		}
	}
	return unique, nil
}

// checkSeries returns an error if s does not fit what it refers to.
func (t *Tables) checkSeries(s Series, args int) error {
	if want := t.Args(s); args != want {
		return fmt.Errorf("%w: %d arguments of %v, want %d", ErrBatch, args, s.Kind, want)
	}
	if s.Track != 0 && t.Tracks.At(s.Track).Process != s.Process {
		return fmt.Errorf("%w: track %d is not of process %d", ErrBatch, s.Track, s.Process)
	}
	if s.Counter != 0 && t.Counters.At(s.Counter).Process != s.Process {
		return fmt.Errorf("%w: counter %d is not of process %d", ErrBatch, s.Counter, s.Process)
	}
	return nil
}

// Compare orders series, with final ids, as [Sink] is given them.
func (s Series) Compare(o Series) int {
	return cmp.Or(cmp.Compare(s.Part, o.Part), cmp.Compare(s.Process, o.Process), compareBools(s.Track == 0, o.Track == 0), cmp.Compare(s.Track, o.Track),
		cmp.Compare(s.Kind, o.Kind), cmp.Compare(s.Event, o.Event), cmp.Compare(s.Counter, o.Counter))
}
