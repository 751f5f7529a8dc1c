package gotrace

import (
	"errors"
	"fmt"
	"io"

	"gprof/ingest/internal/batches"
	"gprof/stream"
)

// Options say how the events of a trace become those of a stream. The zero value
// is ready to use.
type Options struct {
	// Tracks says which tracks there are.
	Tracks Grouping
	// Place is the moment of a monotonic time; nil: the trace's own readings of the
	// clocks tell it.
	Place func(mono uint64) stream.Time
	// Shift is added to all moments.
	Shift stream.Time
	// Beside says that the process has a recording besides, which tells samples,
	// waits and counters, too: those of the trace are left out, lest they count
	// twice. The ledger tells how many.
	Beside bool
	// FirstIndex is the index of the first row: of a process of which others give
	// rows, too, one that none of theirs has.
	FirstIndex uint64
}

// Source gives the events of a trace.
type Source struct {
	file    *File
	tables  *stream.Tables
	closer  io.Closer
	reader  reader
	process stream.ProcessID
	rows    batches.Batches
	ended   bool
	largest int64 // bytes of a generation
	held    int64
	beside  bool
	twice   [stream.Pages + 1]int64 // rows that were left out, by kind

	clock       clock
	stacks      stacks
	tracks      tracks
	waits       waits
	definitions [numMarkers]definition
	events      [numMarkers]stream.EventID
	counters    map[string]*counter

	// The state of the program. It is of live things alone.
	live    map[int64]*goroutine
	ranges  map[rangeKey]*interval
	tasks   map[uint64]*interval
	counts  counts
	fresh   bool           // nothing is known: it is the first generation, or something is lost
	settled bool           // that generation is over: all goroutines are known
	began   int64          // time of the trace at which the generation began
	now     int64          // of the last event
	threads map[int64]bool // of this generation
	thread  int64          // the last of them
	strange int64          // events that have no meaning here
	leaps   int64          // changes of goroutines that no event told of
}

// Source returns the source of the trace's events, whose process is a row of t
// already.
func (f *File) Source(t *stream.Tables, process stream.ProcessID, o Options) *Source {
	s := &Source{
		file: f, tables: t, process: process, rows: batches.Batches{Index: o.FirstIndex},
		clock: clock{place: o.Place, shift: o.Shift}, stacks: stacks{tables: t, known: map[stackRef]stackInfo{}}, tracks: newTracks(t, process, o.Tracks), waits: newWaits(),
		beside: o.Beside, definitions: definitions(), counters: map[string]*counter{},
		live: map[int64]*goroutine{}, ranges: map[rangeKey]*interval{}, tasks: map[uint64]*interval{}, threads: map[int64]bool{},
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
	case s.closer == nil:
		return 0, s.file.size
	}
	return s.reader.done(), s.file.size
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
	s.hold(0)
	if s.closer == nil {
		return nil
	}
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
	var ev event
	for !s.rows.Full() {
		if err := s.reader.next(&ev); err == nil {
			s.take(&ev)
		} else if lost := (*lostError)(nil); errors.As(err, &lost) { // in here, since it is allocated
			s.lose(lost)
		} else {
			return s.finish()
		}
	}
	s.rows.Hand()
	return nil
}

// start opens the file.
func (s *Source) start() error {
	r, closer, _, err := places(s.file.open)
	if err != nil {
		return err
	}
	s.closer = closer
	s.reader = reader{r: r, version: s.file.version, all: s.file.all}
	s.largest = s.file.largest()
	return nil
}

// finish ends reading.
func (s *Source) finish() error {
	s.end(s.now)
	s.rows.Hand()
	if s.file.version < version26 {
		s.note(stream.Line{Reason: stream.ReasonUnproven, What: "generations", Where: "the last one: before Go 1.26 nothing tells where it ends", Count: 1})
	}
	for i := range s.file.trimmed {
		g := &s.file.trimmed[i]
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

// lose tells of a generation that can't be read. What was known of the program
// is not known any more.
func (s *Source) lose(l *lostError) {
	s.note(stream.Line{Reason: stream.ReasonDamaged, What: "generations", Where: fmt.Sprintf("offset %d: %v", l.at.Off, firstLine(l.at.Err)), Count: l.count, Bytes: l.size})
	s.stacks.forget()
	s.end(s.now)
	s.fresh = true
}

// note adds a line to the ledger, unless it is of nothing.
func (s *Source) note(l stream.Line) {
	if l.Count == 0 {
		return
	}
	s.tables.Lock()
	defer s.tables.Unlock()
	l.Process = fmt.Sprintf("%016x", s.tables.Process(s.process).Instance)
	s.tables.Ledger.Add(l)
}

// handlers is the table of events.
var handlers = [...]func(*Source, *event){
	kindNothing:     func(*Source, *event) {},
	kindGeneration:  (*Source).begins,
	kindOver:        func(s *Source, _ *event) { s.stacks.forget() },
	kindSample:      (*Source).sample,
	kindGoroutine:   (*Source).goroutine,
	kindProcessor:   func(*Source, *event) {}, // which goroutine runs there is told of it
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
		s.clock.turn(ev.anchor)
		s.counts.begin(ev.time)
		s.fresh, s.settled = false, false
	} else {
		s.counts.complete(s)
		s.generation(ev.time)
		s.clock.turn(ev.anchor)
		s.settled = true
	}
	s.began = ev.time
}

// countThreads tells how many threads there were in a generation.
func (s *Source) countThreads(now int64) {
	if len(s.threads) > 0 {
		s.count(threadCounter, s.clock.at(now), int64(len(s.threads)))
	}
	clear(s.threads)
	s.thread = none
}

var threadCounter = stream.Counter{Name: "threads", Category: "Go", Description: "threads that ran anything in the last second"}

// leaveOut says whether rows of a kind are left out, and counts them.
func (s *Source) leaveOut(k stream.Kind) bool {
	if s.beside {
		s.twice[k]++
	}
	return s.beside
}

// sample takes a CPU sample. How much time it stands for a trace doesn't tell.
func (s *Source) sample(ev *event) {
	if s.leaveOut(stream.Samples) {
		return
	}
	info := s.stacks.internSample(ev.context)
	g := s.live[ev.goroutine]
	if g != nil && g.lane == nil && info.root != "" {
		g.lane = s.tracks.lane(info.root)
	}
	l := s.tracks.lane(info.root)
	if g != nil && g.lane != nil {
		l = g.lane
	}
	b := s.rows.Row(stream.Series{Process: s.process, Kind: stream.Samples, Track: s.tracks.of(ev, l)}, 0, s.clock.at(ev.time))
	b.AppendWho(stream.Who{Thread: max(ev.thread, 0), Goroutine: max(ev.goroutine, 0)})
	b.Stack, b.Weight, b.CPU = append(b.Stack, info.id), append(b.Weight, 1), append(b.CPU, -1)
}
