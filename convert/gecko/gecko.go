// Package gecko writes the Gecko profile format, version 36, which Firefox Profiler opens.
//
// The output is one JSON object: the run's first process, with the others in its "processes". It is
// written in one pass; only the tables of the current thread (strings, frames and stacks) are in
// memory. Indexes in these tables, which depend on the order of rows, are assigned as rows come;
// the rest is done in pieces on all cores of the writer (viewer.Output).
//
// The format lacks these things, which are replaced as follows:
//
//   - Samples have no weight. A sample of weight n becomes n rows at one time, the CPU time in the
//     first; at most [MaxRepeat] rows, and [MaxRepeats] in all, the rest is in the ledger. Weight 0
//     becomes a row without a stack, which keeps its CPU time, and is a sample for readers.
//   - Goroutines of markers are a field, where known. Those of samples have no place.
//   - Native functions have no file and line. Frames are merged by function and module, or by
//     address if the function is unknown.
//   - Delays become the Jank markers that the viewer would derive from them.
//   - A wait becomes a sample without CPU time, as of a thread that sleeps. How long it was is in
//     no column, only in the times of the rows; nor is how many goroutines waited. The ledger
//     counts these waits.
//   - Measurements have no place: they are in the ledger. A track of nothing else is no thread.
//   - Allocations are markers that the viewer takes out again. They have bytes, but no number of
//     objects. Those without an address get one below 0: see convert/internal/heap.
//   - Pages have no end, and the recorder's overhead no number of samples.
//   - The viewer calls every level in bytes Memory, and draws no other level. So one of a process
//     is drawn as such; of the others it draws the changes, under their names.
//   - Threads are tracks, which several threads of the system may have had: then their tids are
//     numbers of the output.
//   - Modules have only offsets. Each gets a unique range of addresses, so that an address leads
//     back to module and offset. A calling frame's address is the return address, one byte after
//     ours.
//
// All times are in milliseconds since the start of the run, rounded down to a whole millisecond, so
// that the start itself is an exact JSON number. All processes share it.
package gecko

import (
	"sync/atomic"

	"gprof/convert/internal/heap"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// version is the newest that all viewers in use understand; they upgrade older ones and refuse
// newer ones.
const version = 36

// ErrOrder means that segments did not come in the order of [stream.Sink].
var ErrOrder = viewer.ErrOrder

// Sink writes one profile.
type Sink struct {
	out    *viewer.Output
	tables *stream.Tables
	start  stream.Time // 0 of the output
	code   code
	types  []viewer.MarkerType // by EventID-1
	lost   *viewer.Ledger

	categories viewer.Categories
	titles     titleHolders
	heap       *heap.Heap // allocations of the thread being written

	walk   viewer.Walk
	tids   viewer.Tids
	tid    int64 // of the last thread
	thread thread
	part   part                  // the last one
	row    []byte                // scratch
	merged [ahead]stream.StackID // scratch

	maxRepeat, repeatsLeft int64 // rows of one sample; of all, besides the first of each

	lostArguments []atomic.Int64 // by ProcessID
	samplePieces  viewer.Pool[samplePiece]
	markerPieces  viewer.Pool[markerPiece]
	pairs         viewer.Pool[tablePiece[pair]]
	frameRows     viewer.Pool[tablePiece[frameRow]]
}

// New returns a Sink that writes to w, and closes it at the end. Allocations are spilled to a
// temporary file in dir, "" is the system's directory for those.
func New(w *pipeline.Writer, dir string) *Sink {
	return &Sink{out: viewer.NewOutput(w), heap: heap.New(dir), maxRepeat: MaxRepeat, repeatsLeft: MaxRepeats}
}

// Begin writes what does not depend on segments.
func (s *Sink) Begin(t *stream.Tables) error {
	s.tables = t
	s.lost = viewer.NewLedger(t)
	s.start = viewer.StartOf(t)
	if err := s.code.build(t); err != nil {
		return err
	}
	s.categories = viewer.CategoriesOf(t)
	s.titles = titlesOf(t)
	s.types = viewer.MarkerTypes(t, s.categories, viewer.Gecko)
	s.lostArguments = make([]atomic.Int64, max(1, len(t.Processes))+1)
	s.thread.allocate(&s.code)
	s.out.BeginObject()
	s.tids = viewer.NewTids(t)
	s.walk.Begin(t, s.step)
	return s.out.Err()
}

// Segment writes the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	if kind := b.Series.Kind; kind == stream.Measurements || kind == stream.Waits && s.thread.sampled(b.Series) { // samples have no weight
		s.lost.LoseKind(b.Series.Process, kind, int64(b.Len()))
		s.walk.Pass(b.Series.Track)
		return s.out.Err()
	}
	if err := s.walk.To(b.Series); err != nil {
		return err
	}
	switch b.Series.Kind {
	case stream.Samples:
		s.samples(b)
	case stream.Waits:
		s.waits(b)
	case stream.Markers:
		s.markers(b)
	case stream.Delays:
		s.thread.jank.Rows(b, s.writeJank)
	case stream.Allocations:
		s.allocations(b)
	default:
		s.part.rows(s, b)
	}
	if err := s.heap.Err(); err != nil {
		return err
	}
	return s.out.Err()
}

// Close writes what is left and adds what was lost to the ledger of the tables.
func (s *Sink) Close() error {
	defer s.heap.Close()
	s.walk.End()
	s.out.EndArray() // processes
	if err := s.settle(); err != nil {
		return err
	}
	s.out.Key("profileGatheringLog")
	s.lost.Write(s.out.Writer)
	s.out.EndObject()
	s.lost.Tell()
	return s.out.Close()
}

// settle waits for all pieces, and counts what they lost.
func (s *Sink) settle() error {
	if err := s.heap.Err(); err != nil {
		return err
	}
	err := s.out.Settle()
	for id := range s.lostArguments {
		if n := s.lostArguments[id].Load(); n > 0 {
			s.lost.Lose(stream.ProcessID(id), "arguments", n)
		}
	}
	return err
}

// ms is t in ns since the start of the output, which are written as milliseconds.
func (s *Sink) ms(t stream.Time) int64 { return int64(t - s.start) }
