// Package firefox writes the processed profile format of Firefox Profiler, version 70: the viewer's
// own, which it loads several times faster than a Gecko profile, in a fraction of the memory.
//
// All threads share one set of tables: strings, functions, frames and stacks. They are the run's
// own; stacks and frames have the ids of [stream.Tables], less one. A table is columns, one after
// the other. The first column of a thread's samples and markers is written as rows come; the others
// are spilled as numbers to a temporary file meanwhile. The sink's memory grows with the strings
// that markers refer to by index, not with rows.
//
// The format has more than Gecko profiles do: weights of samples, file and line of native functions,
// a name and a unit for each counter, which threads are shown at first, and, at a glance, what was
// lost (meta.extra).
//
// It lacks these things, which are replaced as follows:
//
//   - A sample of weight 0 has no stack: it keeps its CPU time.
//   - Goroutines of markers are a field, where known. Those of samples have no place.
//   - Delays become the Jank markers that the viewer would derive from them.
//   - Waits are samples of a thread of their own, weighted by time, and so are measurements, with
//     the measure's unit. A thread has one of these.
//   - Allocations have bytes, but no number of objects. Those without an address get one below 0:
//     see convert/internal/heap. Markers of script allocations are the table
//     that the viewer makes of them.
//   - Pauses are of processes, but the format has them in threads, which are written before: they
//     are in "gprof", under their process.
//   - Counters are drawn by a category that may not be theirs: that, and their unit, are in "gprof"
//     beside it.
//   - Pages have no end, and the recorder's overhead no number of samples.
//   - Threads are tracks, which several threads of the system may have had: then their tids are
//     numbers of the output.
//   - Addresses have 31 bits. A larger one is in the name, if there is no other.
//   - A native function begins where its program says or, without that, at the lowest place of it that
//     was seen: recordings say no more. Its size is unknown then.
//
// Every column is there, even if empty, because newer viewers, which upgrade the profile, ask for
// it. CPU times without samples are the exception.
package firefox

import (
	"sync/atomic"

	"gprof/convert/internal/heap"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
	"gprof/stream"
	"gprof/stream/spill"
)

const (
	// version is that of the format: the lowest with the tables as they are
	// written here. Viewers bring a profile to their own and refuse newer ones.
	version = 70
	// geckoVersion is that of the Gecko format it stands beside.
	geckoVersion = 36
)

// ErrOrder means that segments did not come in the order of [stream.Sink].
var ErrOrder = viewer.ErrOrder

// Sink writes one profile.
type Sink struct {
	out        *viewer.Output
	tables     *stream.Tables
	start      stream.Time // 0 of the output
	walk       viewer.Walk
	types      []viewer.MarkerType // by EventID-1
	categories viewer.Categories
	code       code
	extent     Extent // nil: no program is known
	texts      viewer.Texts
	names      []int32 // of the markers of a segment, among the texts
	lost       *viewer.Ledger
	heap       *heap.Heap // allocations of the thread being written

	columns *spill.File // of the current thread or part
	later   *spill.File // of what follows the threads
	counted *laterSection
	costs   *laterSection
	logged  *laterSection
	visited *laterSection
	about   *laterSection

	threads []activity // written ones
	tids    viewer.Tids
	tid     int64 // of the last one
	main    int   // the place of the process' main thread among them
	thread  thread
	counter counter
	cost    overheads
	pauses  viewer.Pauses
	pages   viewer.Pages
	logs    viewer.Logs

	lostArguments []atomic.Int64 // by ProcessID
	blocks        viewer.Pool[block]
	stackPieces   viewer.Pool[stackPiece]
	markerPieces  viewer.Pool[markerPiece]
}

// New returns a Sink that writes to w, and closes it at the end. Columns are spilled to a temporary
// file in dir, "" is the system's directory for those. If extent is not nil, native functions begin where it says.
func New(w *pipeline.Writer, dir string, extent Extent) *Sink {
	s := &Sink{out: viewer.NewOutput(w), columns: spill.New(dir), later: spill.New(dir), heap: heap.New(dir), extent: extent}
	s.counted, s.costs, s.logged = newSection(s.later), newSection(s.later), newSection(s.later)
	s.visited, s.about = newSection(s.later), newSection(s.later)
	s.thread.allocate(s.columns)
	s.counter.columns, s.cost.columns = newColumns(s.columns, 3), newColumns(s.columns, 1+len(costNames))
	return s
}

// Begin writes what does not depend on segments.
func (s *Sink) Begin(t *stream.Tables) error {
	if err := t.Reserve(rowBytes.In(t)); err != nil {
		return err
	}
	s.tables = t
	s.lost = viewer.NewLedger(t)
	s.start = viewer.StartOf(t)
	s.categories = viewer.CategoriesOf(t)
	s.types = viewer.MarkerTypes(t, s.categories, viewer.Processed)
	s.texts.Reset()
	s.code.build(t, &s.texts)
	s.code.findNatives(t, &s.texts, s.extent)
	s.lostArguments = make([]atomic.Int64, max(1, len(t.Processes))+1)
	s.out.BeginObject()
	s.out.Array("threads")
	s.tids = viewer.NewTids(t)
	s.walk.Begin(t, s.step)
	return s.err()
}

// Segment writes the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	if err := s.walk.To(b.Series); err != nil {
		return err
	}
	switch b.Series.Kind {
	case stream.Samples:
		s.samples(b)
	case stream.Markers:
		s.markers(b)
	case stream.Delays:
		s.thread.jank.Rows(b, s.jank)
	case stream.Waits:
		s.weights(b, weighsTime)
	case stream.Measurements:
		s.weights(b, weightType(s.tables.Counters.At(b.Series.Counter).Unit))
	case stream.Allocations:
		s.allocations(b)
	case stream.Counts:
		s.counts(b)
	case stream.Overheads:
		s.cost.rows(b)
	case stream.Pauses:
		s.pausedRanges(b)
	case stream.Logs:
		s.logs.Rows(b)
	case stream.Pages:
		s.pages.Rows(s.visited.Writer, b)
	}
	return s.err()
}

// Close writes what is left and adds what was lost to the ledger of the tables.
func (s *Sink) Close() error {
	defer s.columns.Close()
	defer s.later.Close()
	defer s.heap.Close()
	s.walk.End()
	s.out.EndArray() // threads
	s.writeLibs()
	s.writeShared()
	s.writeSections()
	if err := s.settle(); err != nil {
		return err
	}
	s.out.Key("profileGatheringLog")
	s.lost.Write(s.out.Writer)
	s.out.Key("meta")
	s.writeMeta()
	s.out.EndObject()
	s.lost.Tell()
	return s.out.Close()
}

// settle waits for all pieces, and counts what they lost.
func (s *Sink) settle() error {
	if err := s.err(); err != nil {
		return err
	}
	err := s.out.Settle()
	if s.code.far > 0 {
		s.lost.Lose(1, "addresses above 2 GiB in a module", s.code.far)
	}
	for id := range s.lostArguments {
		if n := s.lostArguments[id].Load(); n > 0 {
			s.lost.Lose(stream.ProcessID(id), "arguments", n)
		}
	}
	return err
}

// err is the first error of the output and the spilled data.
func (s *Sink) err() error {
	for _, err := range []error{s.out.Err(), s.columns.Err(), s.later.Err(), s.heap.Err()} {
		if err != nil {
			return err
		}
	}
	return nil
}

// ms is t as nanoseconds since the start of the output, which are written as
// milliseconds.
func (s *Sink) ms(t stream.Time) int64 { return int64(t - s.start) }

// process is the one being written.
func (s *Sink) process() *stream.Process { return viewer.Process(s.tables, s.walk.Process) }
