package filter

import (
	"slices"

	"gprof/stream"
)

// WithoutTwins returns a sink that gets the CPU samples of each process once: of two
// recordings of one process at the same time (see [Process.Twin]), it gets those of the
// twin while that was recorded. It is for sinks that add up samples of all processes.
func WithoutTwins(s stream.Sink) stream.Sink { return &twinSink{Sink: s} }

type twinSink struct {
	stream.Sink
	twice map[stream.ProcessID]interval
	kept  stream.Batch
}

// interval is a time that includes its end.
type interval struct{ from, to stream.Time }

func (s *twinSink) Begin(t *stream.Tables) error {
	s.twice = map[stream.ProcessID]interval{}
	recorded := make(map[uint64]*stream.Process, len(t.Processes))
	for i := range t.Processes {
		recorded[t.Processes[i].Instance] = &t.Processes[i]
	}
	for i := range t.Processes {
		if twin := recorded[t.Processes[i].Twin]; t.Processes[i].Twin != 0 && twin != nil {
			s.twice[stream.ProcessID(i+1)] = interval{max(twin.Start, twin.Earliest), twin.End}
		}
	}
	return s.Sink.Begin(t)
}

func (s *twinSink) Segment(b *stream.Batch) error {
	twin, twice := s.twice[b.Series.Process]
	if !twice || b.Series.Kind != stream.Samples {
		return s.Sink.Segment(b)
	}
	before, _ := slices.BinarySearch(b.Time, twin.from)
	behind, _ := slices.BinarySearch(b.Time, twin.to+1)
	if behind <= before {
		return s.Sink.Segment(b)
	}
	s.kept.Reset(b.Series, 0)
	s.kept.AppendRows(b, 0, before)
	s.kept.AppendRows(b, behind, b.Len())
	if s.kept.Len() == 0 {
		return nil
	}
	return s.Sink.Segment(&s.kept)
}
