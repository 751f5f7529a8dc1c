package firefox

import (
	"cmp"
	"slices"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
	"gprof/stream"
	"gprof/stream/spill"
)

// thread is the current thread.
type thread struct {
	rows     int64       // of samples
	last     stream.Time // of a sample
	weighted bool        // a sample has a weight other than 1
	weights  string      // unit of weights, if rows are no CPU samples
	measure  stream.CounterID
	samples  columns // times, CPU times, weights

	marks   int64
	jank    viewer.Jank
	markers columns // names, starts, ends, phases, categories

	allocations columns // times, bytes, stacks, addresses, threads
	scripts     scriptAllocations
}

func (t *thread) allocate(f *spill.File) {
	t.samples, t.markers, t.allocations = newColumns(f, 3), newColumns(f, 5), newColumns(f, 5)
	t.scripts.allocate(f)
}

// beginThread begins the object of a thread, up to the stacks of its samples.
func (s *Sink) beginThread() {
	t := &s.thread
	t.weights, t.measure = "", 0
	t.rows, t.last, t.weighted, t.marks = 0, s.start, false, 0
	t.scripts.rows = 0
	t.scripts.names.Reset()
	s.threads = append(s.threads, activity{thread: len(s.threads), main: s.walk.Main})
	s.tid = s.tids.Next(s.walk.Track)
	s.out.BeginObject()
	s.out.Member("name", viewer.ThreadName(s.tables, s.walk.Track, s.walk.Main))
	s.out.Flag("isMainThread", s.walk.Main)
	s.out.Member("processType", viewer.ProcessType)
	s.out.Member("processName", s.process().Title())
	viewer.WriteSite(s.out.Writer, s.process())
	s.out.Member("pid", s.pid())
	s.out.Number("tid", s.tid)
	s.writeLifetime()
	s.out.Value("pausedRanges", "[]")
	s.out.Flag("showMarkersInTimeline", true)
	s.beginSamples()
}

// writeLifetime writes when process and track began and ended; null is "still there".
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
	s.columns.Reset()
}

// current is the activity of the current thread.
func (s *Sink) current() *activity { return &s.threads[len(s.threads)-1] }

// stackPiece is the stacks of some rows.
type stackPiece struct{ stacks []stream.StackID }

// appendTo appends the places of the stacks in the table, null for none.
func (p *stackPiece) appendTo(dst []byte) []byte {
	for _, id := range p.stacks {
		if id == 0 {
			dst = append(dst, "null,"...)
		} else {
			dst = append(jsontext.AppendUint(dst, uint64(id-1)), ',')
		}
	}
	return dst[:len(dst)-1]
}

func (s *Sink) beginSamples() {
	s.out.Object("samples")
	s.out.Array("stack")
}

func (s *Sink) samples(b *stream.Batch) {
	t, a := &s.thread, s.current()
	p := s.stackPieces.Get()
	p.stacks = append(p.stacks[:0], b.Stack...)
	for i, weight := range b.Weight {
		if weight <= 0 {
			p.stacks[i], weight = 0, 0
		}
		t.samples.add(int64(b.Time[i]-t.last), known(b.CPU[i]), weight)
		t.last = b.Time[i]
		t.weighted = t.weighted || weight != 1
		a.samples += weight
		a.cpu += max(0, b.CPU[i])
	}
	s.endRows(t, p)
}

// endRows ends a batch of rows, whose stacks are in p.
func (s *Sink) endRows(t *thread, p *stackPiece) {
	n := len(p.stacks)
	t.rows += int64(n)
	t.samples.flush()
	s.out.List(n, pipeline.Numbers, func(dst []byte) []byte {
		dst = p.appendTo(dst)
		s.stackPieces.Put(p)
		return dst
	})
}

// known is a CPU time, or none.
func known(cpu int64) int64 {
	if cpu < 0 {
		return none
	}
	return cpu
}

// endSamples writes the other columns. Without weights each sample counts 1.
func (s *Sink) endSamples() {
	t := &s.thread
	times, cpu, weight := &t.samples[0], &t.samples[1], &t.samples[2]
	s.out.EndArray()
	s.writeColumn("timeDeltas", times, pipeline.Numbers, jsontext.AppendMillis)
	// Without this column the viewer would go through all stacks to judge how
	// busy the thread is; but looking for the busy times of an empty one, it
	// never ends.
	if t.rows > 0 {
		s.writeColumn("threadCPUDelta", cpu, pipeline.Numbers, appendInt)
	}
	if t.weights == weighsTime {
		s.writeColumn("weight", weight, pipeline.Text, jsontext.AppendMillis)
	} else if t.weighted || t.weights != "" {
		s.writeColumn("weight", weight, pipeline.Text, appendInt)
	} else {
		weight.roll.Drain(func([]byte) {})
		s.out.Key("weight")
		s.out.Null()
	}
	s.out.Member("weightType", cmp.Or(t.weights, weighsSamples))
	s.out.Number("length", t.rows)
	s.out.EndObject()
}

// The units of weights.
const (
	weighsSamples = "samples"
	weighsTime    = "tracing-ms"
	weighsBytes   = "bytes"
)

// weightType is the weight unit of a measure.
func weightType(unit stream.Format) string {
	switch unit {
	case stream.FormatNanoseconds:
		return weighsTime
	case stream.FormatBytes:
		return weighsBytes
	}
	return weighsSamples
}

// weights writes waits, or measurements, as the samples of a thread, weighted by their value, times
// in ns. A thread with CPU samples, or values of something else, has no place for them.
func (s *Sink) weights(b *stream.Batch, typ string) {
	t := &s.thread
	if t.rows > 0 && (t.weights == "" || t.measure != b.Series.Counter) {
		s.lost.LoseKind(s.walk.Process, b.Series.Kind, int64(b.Len()))
		return
	}
	t.weights, t.measure = typ, b.Series.Counter
	p := s.stackPieces.Get()
	p.stacks = append(p.stacks[:0], b.Stack...)
	for i, value := range b.Value {
		t.samples.add(int64(b.Time[i]-t.last), 0, value)
		t.last = b.Time[i]
		s.current().samples++
	}
	s.endRows(t, p)
}

// activity is how much a thread did.
type activity struct {
	thread  int // its place in the list of threads
	main    bool
	cpu     int64 // ns
	samples int64 // by weight
	markers int64
}

// idle reports whether there is nothing to see of a thread.
func (a *activity) idle() bool { return a.samples == 0 && a.markers == 0 }

// compare puts the busier one first.
func (a activity) compare(b activity) int {
	return cmp.Or(cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.samples, a.samples), cmp.Compare(b.markers, a.markers), cmp.Compare(a.thread, b.thread))
}

// maxVisible is how many threads are shown at first: two screens full. The viewer's menu has the
// others. maxProcesses limits the processes: a thousand rows are slow to draw, and nobody looks
// through them.
const maxVisible, maxProcesses = 30, 100

// visible are the indexes of the threads shown at first, the busiest ones, in profile order, and
// that of the busiest. A thread's main thread is shown, too: it is the row of the process, with its
// counters. So are the main threads of the busiest other processes.
func visible(threads []activity) (shown []int, busiest int) {
	order := slices.SortedFunc(slices.Values(threads), activity.compare)
	mains := mainsOf(threads)
	show := make([]bool, len(threads))
	processes := 0
	for i, a := range order {
		if i < maxVisible && !a.idle() || a.main && processes < maxProcesses {
			show[a.thread] = true
			show[mains[a.thread]] = true
		}
		if a.main {
			processes++
		}
	}
	for thread := range show {
		if show[thread] {
			shown = append(shown, thread)
		}
	}
	return shown, order[0].thread
}

// mainsOf is the main thread of each thread's process, its first one.
func mainsOf(threads []activity) []int {
	mains := make([]int, len(threads))
	main := 0
	for i, a := range threads {
		if a.main {
			main = i
		}
		mains[i] = main
	}
	return mains
}
