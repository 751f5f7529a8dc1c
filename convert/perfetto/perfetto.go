// Package perfetto writes traces for Perfetto: https://ui.perfetto.dev shows them, and its trace processor
// answers SQL about them. Package rawformat/perfettoproto says which schema that is.
//
// The stream's terms become Perfetto's:
//
//   - A process is a process, a track a thread. Perfetto knows both by number, so those that several processes
//     have, or that nobody knows, are replaced by numbers that no system gives; names stay. What else is
//     known of a process, how it ended and what is missing from its recording are the arguments of a slice that is as
//     long as the recording, on a track of its own.
//
//   - Samples are perf's. A sample that stands for several is several, up to a number. The CPU time of a
//     thread is a counter below it, a hundred times a second.
//
//   - Markers are slices and instants with their fields as arguments, their stacks, and flows. Slices of one
//     track of Perfetto's enclose each other or don't overlap. Intervals go to their thread's track if they
//     can, and else to one below it of the same name: one is only inside of another of the same
//     goroutine, and those that overlap in part lie side by side.
//
//   - A start without an end is a slice without an end. An end without a start is an instant.
//
//   - Waits and measurements are instants with a stack and a value, on tracks below their thread's.
//
//   - Counters, delays and the recorder's own cost are counters. Pauses, pages and logs have tracks
//     of their own below the process.
//
//   - The heap is one heap profile, of the end of the process.
//
// Times are those of the real-time clock, in nanoseconds. Texts are valid UTF-8 without zeros.
//
// The trace is written in one pass. Heaps, and the markers of a track, wait in a temporary file until all events of the track
// have come, because only their order in time tells which is inside of which. What has no place is in the ledger:
// who was sampled besides the thread, addresses and times of allocations.
package perfetto

import (
	"cmp"

	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/timeline"
	"gprof/convert/internal/totals"
	"gprof/convert/internal/viewer"
	pb "gprof/rawformat/perfettoproto"
	"gprof/stream"
	"gprof/stream/spill"
)

// Sink writes one trace.
type Sink struct {
	out    *pipeline.Writer
	tables *stream.Tables
	lost   *viewer.Ledger
	packets
	names names
	code  code

	numbers timeline.Numbers
	clock   clock
	uuids   uint64 // of tracks so far
	process stream.ProcessID
	places  places // of the process
	track   stream.TrackID
	thread  threadAt // of the track

	samples  samples
	marks    *timeline.Marks
	heap     *totals.Totals
	dumps    []heapDump
	heapFile *spill.File
	lanes    *lanes    // of the rows that are collected in marks
	form     eventForm // of the event that is
	series   stream.Series
	counts   map[counterKey]counterTrack // of the process, by what is counted
	logs     uint64                      // messages so far

	recordings              []uint64 // tracks of what is known of processes
	event, body, annotation []byte   // scratch
}

// New returns a Sink that writes to w, and closes it at the end. Markers are spilled to a temporary file in
// dir, "" is the system's directory for those.
func New(w *pipeline.Writer, dir string) *Sink {
	return &Sink{out: w, marks: timeline.NewMarks(dir), heapFile: spill.New(dir)}
}

// rowBytes is the memory of what is written already, and of sums of the heap.
var rowBytes = stream.RowBytes{Stack: 1 + 4, Frame: 1, String: 2, Track: 8}

// Begin writes what does not depend on segments.
func (s *Sink) Begin(t *stream.Tables) error {
	if err := t.Reserve(rowBytes.In(t)); err != nil {
		return err
	}
	s.tables, s.lost = t, viewer.NewLedger(t)
	s.packets = packets{out: s.out}
	s.names.packets, s.code = &s.packets, newCode(t, &s.packets)
	s.numbers = timeline.Number(t)
	s.heap = totals.New(t, s.dump)
	s.heap.Heap = true
	s.beginTrace()
	return s.err()
}

// Segment writes the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	s.reach(b.Series)
	switch b.Series.Kind {
	case stream.Samples:
		s.addSamples(b)
	case stream.Waits, stream.Measurements:
		s.addWeighted(b)
	case stream.Markers:
		s.addMarkers(b)
	case stream.Delays:
		s.addDelays(b)
	case stream.Allocations:
		s.addAllocations(b)
	case stream.Counts:
		s.addCounts(b)
	case stream.Overheads:
		s.addOverheads(b)
	case stream.Pauses:
		s.addPauses(b)
	case stream.Logs:
		s.addLogs(b)
	case stream.Pages:
		s.addPages(b)
	}
	return s.err()
}

// reach goes to the series of a segment. Processes before it are written, of which there are no rows.
func (s *Sink) reach(to stream.Series) {
	if to == s.series {
		return
	}
	if to.Process != s.process || to.Track != s.track || !to.Kind.Tracked() && to.Kind != s.series.Kind {
		s.endTrack()
	}
	for s.process < to.Process {
		s.endProcess()
		s.beginProcess(s.process + 1)
	}
	if to.Track != s.track {
		s.beginTrack(to.Track)
	}
	s.series = to
}

// Close writes the rest, and adds what has no place to the ledger of the tables.
func (s *Sink) Close() error {
	s.reach(stream.Series{Process: stream.ProcessID(len(s.tables.Processes)), Kind: stream.Pages})
	s.endTrack()
	s.endProcess()
	s.writeHeaps()
	s.writeRecordings()
	s.lost.Tell()
	if err := cmp.Or(s.err(), s.marks.Close(), s.heapFile.Close()); err != nil {
		return err
	}
	return s.out.Close()
}

func (s *Sink) err() error {
	return cmp.Or(s.failed, s.marks.Err(), s.heapFile.Err())
}

// nextUUID is the id of a new track.
func (s *Sink) nextUUID() uint64 {
	s.uuids++
	return s.uuids
}

// clock is what the clocks of a trace read at one moment.
type clock struct {
	realtime, monotonic int64 // ns
	shared              bool  // monotonic is that of a boot, which all processes share
}

// clockOf is the clock of the run. Without a shared monotonic clock the real-time one stands for it: Perfetto has times of
// the heap by that.
func clockOf(t *stream.Tables) (c clock) {
	if len(t.Processes) == 0 {
		return c
	}
	of := &t.Processes[0].Clock
	for i := range t.Processes {
		if k := &t.Processes[i].Clock; k.By != stream.PlacedByBoot || k.Pieces != 1 || k.Boot != of.Boot || of.Monotonic <= 0 {
			start := max(0, int64(t.Processes[0].Start))
			return clock{start, start, false}
		}
	}
	return clock{int64(of.First), of.Monotonic, true}
}

// toMonotonic is a time by the monotonic clock.
func (c clock) toMonotonic(at stream.Time) uint64 {
	return timestamp(at - stream.Time(c.realtime-c.monotonic))
}

// beginTrace writes the clock and what holds for all packets. Traces of other tools of the machine may have times by its
// monotonic clock: that is how they are placed.
func (s *Sink) beginTrace() {
	s.clock = clockOf(s.tables)
	reads := func(id uint64, at int64) []byte {
		return appendMessage(nil, pb.SnapshotClock, pb.ClockID, id, pb.ClockTime, uint64(at))
	}
	snapshot := append(reads(pb.Realtime, s.clock.realtime), reads(pb.MonotonicCoarse, s.clock.monotonic)...)
	if s.clock.shared {
		snapshot = append(snapshot, reads(pb.Monotonic, s.clock.monotonic)...)
	}
	snapshot = appendNumbers(snapshot, pb.SnapshotPrimary, pb.Realtime)
	s.begin(snapshot, appendNumbers(nil, pb.DefaultsClock, pb.Realtime), s.sampleDefaults())
}
