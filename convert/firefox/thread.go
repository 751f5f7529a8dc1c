package firefox

import (
	"gprof/convert/internal/spill"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// thread is the thread being written.
type thread struct {
	rows     int64       // of samples
	last     stream.Time // of a sample
	weighted bool        // a sample has a weight other than 1
	weights  string      // what they weigh, if rows are no samples of the CPU
	measure  stream.CounterID
	delta    column // times of samples
	cpu      column
	weight   column

	marks    int64
	jank     viewer.Jank
	name     column
	begin    column
	end      column
	phase    column
	category column

	allocations allocations
	scripts     scriptAllocations
}

func (t *thread) allocate(f *spill.File) {
	for _, c := range []*column{&t.delta, &t.cpu, &t.weight, &t.name, &t.begin, &t.end, &t.phase, &t.category} {
		*c = newColumn(f)
	}
	t.allocations.allocate(f)
	t.scripts.allocate(f)
}

// beginThread begins the object of a thread, up to the stacks of its samples.
func (s *Sink) beginThread() {
	t := &s.thread
	t.weights, t.measure = "", 0
	t.rows, t.last, t.weighted, t.marks, t.allocations.rows = 0, s.start, false, 0, 0
	t.scripts.rows = 0
	t.scripts.names.Reset()
	s.threads = append(s.threads, activity{thread: len(s.threads), main: s.walk.Main})
	s.tid = s.tids.Next(s.walk.Track)
	s.out.BeginObject()
	s.out.Member("name", viewer.ThreadName(s.tables, s.walk.Track, s.walk.Main))
	s.out.Key("isMainThread")
	s.out.Bool(s.walk.Main)
	s.out.Member("processType", viewer.ProcessType)
	s.out.Member("processName", s.process().Title())
	viewer.WriteSite(s.out.Writer, s.process())
	s.out.Member("pid", s.pid())
	s.out.Number("tid", s.tid)
	s.writeLifetime()
	s.out.Key("pausedRanges")
	s.out.Raw("[]")
	s.out.Key("showMarkersInTimeline")
	s.out.Bool(true)
	s.beginSamples()
}

// writeLifetime writes when process and track began and ended; null is "still
// there".
func (s *Sink) writeLifetime() {
	start, end := viewer.Lifetime(s.tables, s.process(), 0)
	s.moment("processStartupTime", start, true)
	s.moment("processShutdownTime", end, end != 0)
	start, end = viewer.Lifetime(s.tables, s.process(), s.walk.Track)
	s.moment("registerTime", start, true)
	s.moment("unregisterTime", end, end != 0)
}

// moment writes a member that is a time, or null if it is not known.
func (s *Sink) moment(key string, at stream.Time, known bool) {
	s.out.Key(key)
	if known {
		s.out.Fixed(s.ms(at), 6)
	} else {
		s.out.Null()
	}
}

func (s *Sink) endThread() {
	s.endMarkers()
	s.endAllocations()
	s.endScriptAllocations()
	s.out.EndObject()
	s.columns.Rewind()
}

// current is what is known of the activity of the thread being written.
func (s *Sink) current() *activity { return &s.threads[len(s.threads)-1] }
