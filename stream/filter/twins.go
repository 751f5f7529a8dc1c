package filter

import (
	"slices"

	"gprof/stream"
)

// WithoutTwins returns a sink that gets the CPU samples and the waits of each process
// once: of two recordings of one process at the same time, see [stream.Process.Twin], it
// gets those of the twin while that was recorded. A kind that the twin has nothing of stays.
// It is for sinks that add up samples of all processes.
func WithoutTwins(s stream.Sink) stream.Sink { return &twinSink{Sink: s} }

type twinSink struct {
	stream.Sink
	twice map[stream.ProcessID]twin
	kept  stream.Batch
}

// twin is when another recording of a process was made, up to and including the end, and
// what it has.
type twin struct {
	from, to       stream.Time
	samples, waits bool
}

// Needs implements [stream.Summer]. If a process has a twin it depends on its times which rows count.
func (s *twinSink) Needs(k stream.Kind, t *stream.Tables) stream.Need {
	of, ok := s.Sink.(stream.Summer)
	if !ok || slices.ContainsFunc(t.Processes, func(p stream.Process) bool { return p.Twin != 0 }) {
		return stream.NeedsRows
	}
	return of.Needs(k, t)
}

// Sums implements [stream.Summer].
func (s *twinSink) Sums(sums *stream.Sums) error {
	if len(s.twice) > 0 {
		panic("internal error: a twin was found after the rows were summed up")
	}
	return s.Sink.(stream.Summer).Sums(sums) // else it needs rows
}

func (s *twinSink) Begin(t *stream.Tables) error {
	s.twice = map[stream.ProcessID]twin{}
	recorded := make(map[uint64]stream.ProcessID, len(t.Processes))
	for i := range t.Processes {
		recorded[t.Processes[i].Instance] = stream.ProcessID(i + 1)
	}
	for i := range t.Processes {
		if id := recorded[t.Processes[i].Twin]; t.Processes[i].Twin != 0 && id != 0 {
			p := t.Process(id)
			s.twice[stream.ProcessID(i+1)] = twin{max(p.Start, p.Earliest), p.End, p.Interval != 0, t.Waited(id)}
		}
	}
	return s.Sink.Begin(t)
}

func (s *twinSink) Segment(b *stream.Batch) error {
	twin, twice := s.twice[b.Series.Process]
	if !twice || !twin.has(b.Series.Kind) {
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

// has reports whether the rows of the twin count instead of others of that kind.
func (t *twin) has(kind stream.Kind) bool {
	switch kind {
	case stream.Samples:
		return t.samples
	case stream.Waits:
		return t.waits
	}
	return false
}
