package gotrace

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"gprof/ingest/internal/batches"
	"gprof/stream"
)

// Options say how a trace becomes a stream. The zero value is ready to use.
type Options struct {
	// Tracks is the grouping of tracks.
	Tracks Grouping
	// Place maps monotonic times; nil: by the trace's own clock readings.
	Place func(mono uint64) stream.Time
	// Shift is added to all moments.
	Shift stream.Time
	// Recorded are the kinds of rows that a recording of the process has, too, of samples, waits and
	// counters: those of the trace are dropped, and counted in the ledger.
	Recorded []stream.Kind
	// States adds what [StateEvent] and [WakeEvent] say: each state of each goroutine, exactly. They are
	// many: a row or two for each time that a goroutine begins or ends to wait.
	States bool
	// FirstIndex is the index of the first row, distinct from those of the process's other sources.
	FirstIndex uint64
	// Jobs is the number of cores that may be used; 0 is 1. The rows are the same for any number.
	Jobs int
}

// Source gives the events of a trace.
type Source struct {
	file     *File
	tables   *stream.Tables
	closer   io.Closer
	reader   reader
	ahead    *ahead // reads, if another core may be used
	jobs     int
	portion  *portion // of events; nil: none yet
	taken    int      // of its events
	process  stream.ProcessID
	rows     batches.Batches
	ended    bool
	states   bool
	claim    stream.Claim // for the program's state
	reading  stream.Claim // for what the reader holds
	recorded []stream.Kind
	twice    [stream.Pages + 1]int64 // dropped rows, by kind

	clock       clock
	stacks      stacks
	tracks      tracks
	waits       waits
	definitions [numMarkers]definition
	events      [numMarkers]stream.EventID
	counters    map[string]*counter

	// State of the program: live things only.
	live    lookup[goroutine]
	ranges  map[rangeKey]*interval
	tasks   map[uint64]*interval
	counts  counts
	fresh   bool           // state unknown: in the first generation, or after a gap
	settled bool           // all goroutines are known
	began   int64          // beginning of the generation, in the trace's time
	now     int64          // of the last event
	threads map[int64]bool // of this generation
	thread  int64          // the last of them
	strange int64          // unknown events
	leaps   int64          // transitions that no event told
	stops   []stop         // of the world, in this generation
}

// Source returns the source of the trace's events; its process is a row of t.
func (f *File) Source(t *stream.Tables, process stream.ProcessID, o Options) *Source {
	s := &Source{
		claim: stream.Claim{Input: true}, reading: stream.Claim{Input: true}, jobs: o.Jobs,
		file: f, tables: t, process: process, rows: batches.Batches{Index: o.FirstIndex},
		clock: clock{place: o.Place, shift: o.Shift}, stacks: stacks{tables: t}, tracks: newTracks(t, process, o.Tracks), waits: newWaits(),
		recorded: o.Recorded, states: o.States, definitions: definitions(), counters: map[string]*counter{},
		live: newLookup[goroutine](), ranges: map[rangeKey]*interval{}, tasks: map[uint64]*interval{}, threads: map[int64]bool{},
		fresh: true,
	}
	s.clock.turn(f.all[0].anchor)
	return s
}

// Tables implements [stream.Source].
func (s *Source) Tables() *stream.Tables { return s.tables }

// Progress implements [stream.Progress].
func (s *Source) Progress() (done, total int64) {
	switch {
	case s.ended:
		return s.file.size, s.file.size
	case s.portion == nil:
		return 0, s.file.size
	}
	return s.portion.done, s.file.size
}

// Next implements [stream.Source]. The error is one of opening the file.
func (s *Source) Next(b *stream.Batch) error {
	for !s.rows.Take(b) {
		if s.ended {
			b.Reset(stream.Series{}, 0)
			return io.EOF
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [io.Closer].
func (s *Source) Close() error {
	s.rows.Drop()
	return s.close()
}

// close ends reading; rows that are ready stay.
func (s *Source) close() error {
	s.ended = true
	if s.closer == nil {
		return nil
	}
	if s.ahead != nil {
		s.ahead.stop()
	}
	s.tables.Lock()
	s.claim.Set(s.tables, 0)
	s.reading.Set(s.tables, 0)
	s.tables.Unlock()
	err := s.closer.Close()
	s.closer = nil
	return err
}

// fill reads until there are rows to hand over, or no more events.
func (s *Source) fill() error {
	if s.closer == nil {
		if err := s.start(); err != nil {
			return err
		}
	}
	if s.full() {
		return s.close()
	}
	for !s.rows.Full() {
		if p := s.portion; p != nil && s.taken < len(p.events) {
			s.take(&p.events[s.taken])
			s.taken++
			continue
		}
		if s.portion != nil && s.portion.err != nil {
			if lost := (*lostError)(nil); errors.As(s.portion.err, &lost) {
				s.lose(lost)
			} else if s.portion.err == io.EOF {
				return s.finish()
			} else {
				return s.close() // the tables are full
			}
		}
		s.turn()
	}
	s.rows.Hand()
	return nil
}

// turn goes to the next portion.
func (s *Source) turn() {
	switch {
	case s.ahead != nil:
		s.portion = s.ahead.turn(s.portion)
	default:
		if s.portion == nil {
			s.portion = new(portion)
		}
		s.reader.read(s.portion)
	}
	s.taken = 0
	if len(s.portion.events) > 0 {
		s.stacks.use(s.portion.tables)
	}
}

func (s *Source) start() error {
	r, closer, _, err := places(s.file.open)
	if err != nil {
		return err
	}
	s.closer = closer
	s.reader = reader{r: r, version: s.file.version, all: s.file.all, claim: s.hold}
	if s.jobs > 1 {
		s.ahead = startAhead(&s.reader)
	}
	return nil
}

func (s *Source) finish() error {
	s.end(s.now)
	s.rows.Hand()
	if s.file.version < version26 {
		s.note(stream.Line{Reason: stream.ReasonUnproven, What: "generations", Where: "the last one: before Go 1.26 nothing tells where it ends", Count: 1})
	}
	for i := range s.file.copies {
		g := &s.file.copies[i]
		s.note(stream.Line{Reason: stream.ReasonDuplicate, What: "generations of the execution trace", Count: 1, Bytes: g.to - g.from})
	}
	for kind, n := range s.twice {
		s.note(stream.Line{Reason: stream.ReasonDuplicate, What: stream.Kind(kind).String() + " of the execution trace", Count: n})
	}
	s.note(stream.Line{Reason: stream.ReasonUnsupported, What: "experimental events", Count: s.strange})
	s.note(stream.Line{Reason: stream.ReasonDamaged, What: "stacks", Count: s.stacks.bad})
	s.note(stream.Line{Reason: stream.ReasonDeep, What: "deep stacks", Count: s.stacks.cut})
	s.note(stream.Line{Reason: stream.ReasonDamaged, What: "goroutines", Where: "begin a generation in another state than they were in", Count: s.leaps})
	s.tables.Lock()
	row := s.tables.Process(s.process)
	row.End = max(row.End, s.clock.at(s.now))
	s.tables.Unlock()
	return s.close()
}

// lose notes an unreadable generation and forgets the program's state.
func (s *Source) lose(l *lostError) {
	s.note(stream.Line{Reason: stream.ReasonDamaged, What: "generations", Where: fmt.Sprintf("offset %d: %v", l.at.Off, l.at.Err), Count: l.count, Bytes: l.size})
	s.end(s.now)
	s.fresh = true
}

// note adds a ledger line, unless it counts nothing.
func (s *Source) note(l stream.Line) {
	if l.Count == 0 {
		return
	}
	s.tables.Lock()
	defer s.tables.Unlock()
	l.Process = s.tables.Process(s.process).InstanceName()
	s.tables.Ledger.Add(l)
}

// handlers is the table of events.
var handlers = [...]func(*Source, *event){
	kindNothing:     func(*Source, *event) {},
	kindGeneration:  (*Source).begins,
	kindOver:        func(*Source, *event) {},
	kindSample:      (*Source).sample,
	kindGoroutine:   (*Source).goroutine,
	kindRangeBegin:  (*Source).rangeBegins,
	kindRangeActive: (*Source).rangeBegins,
	kindRangeEnd:    (*Source).rangeEnds,
	kindTaskBegin:   (*Source).taskBegins,
	kindTaskEnd:     (*Source).taskEnds,
	kindRegionBegin: (*Source).regionBegins,
	kindRegionEnd:   (*Source).regionEnds,
	kindLog:         (*Source).logged,
	kindLabel:       (*Source).labelled,
	kindMetric:      (*Source).metric,
	kindExperiment:  func(s *Source, _ *event) { s.strange++ },
}

// take takes an event.
func (s *Source) take(ev *event) {
	s.now = ev.time
	s.counts.tick(s, ev.time)
	if s.waits.due(ev.time) {
		s.tellWaits()
	}
	if ev.thread != none && ev.thread != s.thread && ev.kind != kindGeneration {
		s.thread = ev.thread
		s.threads[ev.thread] = true
	}
	handlers[ev.kind](s, ev)
}

// begins begins a generation.
func (s *Source) begins(ev *event) {
	s.countThreads(ev.time)
	if s.fresh {
		s.turnClock(ev)
		s.counts.begin(ev.time)
		s.fresh, s.settled = false, false
	} else {
		s.counts.complete(s)
		s.generation(ev.time)
		s.turnClock(ev)
		s.settled = true
	}
	s.began = ev.time
}

func (s *Source) turnClock(ev *event) {
	if ev.anchor != nil {
		s.clock.turn(*ev.anchor)
	}
}

// countThreads counts the threads of a generation.
func (s *Source) countThreads(now int64) {
	if len(s.threads) > 0 {
		s.count(threadCounter, s.clock.at(now), int64(len(s.threads)))
	}
	clear(s.threads)
	s.thread = none
}

var threadCounter = stream.Counter{Name: "threads", Category: "Go", Description: "threads that ran anything in the last second"}

// leaveOut reports whether rows of a kind are dropped, and counts them.
func (s *Source) leaveOut(k stream.Kind) bool {
	if !slices.Contains(s.recorded, k) {
		return false
	}
	s.twice[k]++
	return true
}

// sample takes a CPU sample. A trace does not tell how much time it stands for.
func (s *Source) sample(ev *event) {
	if s.leaveOut(stream.Samples) {
		return
	}
	info := s.stacks.internSample(ev.context)
	g := s.live.at(ev.goroutine)
	if g != nil && g.lane == nil && info.root != "" {
		g.lane = s.tracks.lane(info.root)
	}
	l := s.tracks.lane(info.root)
	if g != nil && g.lane != nil {
		l = g.lane
	}
	b := s.rows.Row(stream.Series{Process: s.process, Kind: stream.Samples, Track: s.tracks.of(ev, l)}, 0, s.clock.at(ev.time))
	b.AppendOwner(stream.Owner{Thread: max(ev.thread, 0), Goroutine: max(ev.goroutine, 0)})
	b.Stack, b.Weight, b.CPU = append(b.Stack, info.id), append(b.Weight, 1), append(b.CPU, -1)
}

// Memory of what is kept, by us and by the reader, including map entries.
const (
	goroutineBytes = int64(unsafe.Sizeof(goroutine{})+unsafe.Sizeof(routine{})) + 512
	intervalBytes  = int64(unsafe.Sizeof(interval{})+unsafe.Sizeof(openTask{})) + 128
	whyBytes       = int64(unsafe.Sizeof(waitStack{})) + 32
)

// full tells the tables the memory held, and reports whether they are full.
func (s *Source) full() bool {
	lasting := int64(len(s.live.all))*goroutineBytes + int64(len(s.tasks)+len(s.ranges))*intervalBytes + int64(len(s.waits.under.all))*whyBytes
	s.tables.Lock()
	defer s.tables.Unlock()
	s.claim.Set(s.tables, lasting)
	return s.tables.Full()
}

// hold tells the tables what the reader holds. The error is that they are full.
func (s *Source) hold(bytes int64) error {
	s.tables.Lock()
	defer s.tables.Unlock()
	if s.reading.Set(s.tables, bytes); s.tables.Full() {
		return errFull
	}
	return nil
}
