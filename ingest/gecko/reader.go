package gecko

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"gprof/ingest/internal/batches"
	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// reader reads the rows of a profile.
type reader struct {
	*layout
	profile *Profile

	t       *stream.Tables
	ids     []stream.ProcessID
	shift   stream.Time
	rows    batches.Batches
	yield   func(struct{}) bool // hands over the rows that are ready
	stopped bool                // the consumer wants no more
	latest  stream.Time         // end of the latest row of the process
	texts   int                 // bytes of text in rows
	asked   int

	err   error        // I/O error
	done  int64        // bytes
	claim stream.Claim // beside that of code
	spent bool         // the consumer wants no more, or the tables are full

	instance      string          // of the process being read, for the ledger
	arch          string          // of its modules
	pagesOf       *jsonfile.Value // object that has its pages
	zero          stream.Time
	categories    [][]stream.CategoryID // of the file, each with its subcategories
	categoryNames []string
	noCategories  bool  // the file lists none: see oldCategories
	cpuUnit       int64 // ns in a CPU time of a sample, 0 unknown
	survey        survey
	oldPages      oldPages
	delayed       bool // the thread's samples have delays

	unscripted      bool // frames don't say whether they are script-related
	unplacedScripts bool // names of script functions contain their place

	pids        map[string]bool
	sharedTexts *texts
	code        *code // that was loaded last
	codeOf      *jsonfile.Value
}

func newReader(p *Profile, t *stream.Tables, ids []stream.ProcessID, shift stream.Time) *reader {
	return &reader{profile: p, t: t, ids: ids, shift: shift}
}

var errChanged = errors.New("has changed since it was opened")

// locate finds things. It does not use the tables.
func (r *reader) locate() {
	r.layout, r.err = r.profile.lay(&file{r: r.profile.file.r, size: r.profile.file.size, notes: newNotes()}, r.profile.file.r)
	if r.err != nil {
		return
	}
	if r.describeAll(r.profile.seed); len(r.processes) != len(r.ids) {
		r.err = errChanged
	}
	r.pids = map[string]bool{}
	for _, x := range r.processes {
		r.pids[x.pid] = true
	}
	r.unscripted, r.unplacedScripts = r.isUnscripted(), r.hasUnplacedScripts()
}

// read reads all wanted processes.
func (r *reader) read(yield func(struct{}) bool) {
	if r.err != nil {
		return
	}
	r.yield = yield
	defer func() {
		r.flushNotes()
		r.dropCode()
		r.claim.Set(r.t, 0)
	}()
	r.claim.Add(r.t, r.layout.held)
	r.note(r.damage)
	r.note(r.tooMany)
	r.enter(r.processes[0])
	r.noteVersion()
	r.readCategories()
	r.cpuUnit = cpuUnits[r.root.object("meta").object("sampleUnits").text("threadCPUDelta")]
	r.look()
	r.ledgers()
	for i, x := range r.processes {
		if id := r.ids[i]; id != 0 && r.goesOn() {
			r.process(x, id)
		}
	}
	r.done = r.profile.file.size
}

// goesOn reports whether more is wanted and fits.
func (r *reader) goesOn() bool { return r.err == nil && !r.stopped && !r.t.Full() }

// cutShort reports whether columns may be missing whose rows exist. Without them other columns
// would mean something else.
func (r *reader) cutShort() bool { return r.damage != nil && r.processed() }

// full reports whether to stop, checking only now and then.
func (r *reader) full() bool {
	r.asked++
	r.spent = r.spent || r.asked%1024 == 0 && !r.goesOn()
	return r.spent
}

// enter makes x the current process.
func (r *reader) enter(x *process) {
	r.instance = x.row.InstanceName()
	r.zero, r.arch = x.zero+r.shift, x.row.Machine()
	r.pagesOf, r.file.notes.process, r.file.zero = x.v, x.number, max(0, int64(r.zero))
}

func (r *reader) flushNotes() {
	var instances []string
	for _, x := range r.processes {
		instances = append(instances, x.row.InstanceName())
	}
	r.file.notes.flush(&r.t.Ledger, instances)
}

func (r *reader) process(x *process, id stream.ProcessID) {
	r.enter(x)
	r.rows.Index = 1
	r.setOutTracks(x, id)
	for _, t := range x.threads {
		if r.goesOn() {
			r.thread(x, t, id)
		}
	}
	r.parts(x, id)
	r.flush()
	if x.about.v == nil {
		r.live(id)
	}
}

// setOutTracks interns the tracks of a process, one of which is the main one.
func (r *reader) setOutTracks(x *process, id stream.ProcessID) {
	main := false
	for _, t := range x.threads {
		main = main || t.track.Main
		r.track(t, id)
	}
	if !main {
		r.t.Tracks.Intern(stream.Track{Process: id, Name: x.row.Name, Main: true})
	}
}

// track interns the track of a thread.
func (r *reader) track(t *thread, id stream.ProcessID) stream.TrackID {
	row := t.track
	row.Process = id
	for _, at := range []*stream.Time{&row.Start, &row.End} {
		if *at != 0 {
			*at += r.shift
		}
	}
	return r.t.Tracks.Intern(row)
}

// live sets when a process ended: after its last row by at least one sampling interval, because the
// viewer hides what is not before the end.
func (r *reader) live(id stream.ProcessID) {
	p := r.t.Process(id)
	if p.End = max(p.Start, p.End); r.latest >= p.End {
		p.End = r.latest + stream.Time(p.Interval)
	}
	r.latest = 0
}

// thread reads the rows of a thread.
func (r *reader) thread(x *process, t *thread, id stream.ProcessID) {
	t.required("name", "samples", "markers")
	c := r.loadCode(x, t)
	series := stream.Series{Process: id, Track: r.track(t, id)}
	who := stream.Owner{Thread: t.track.Thread}
	if x.about.v != nil {
		who = stream.Owner{} // it is a number of the output's
	}
	r.delayed = false
	r.samples(c, t, series, who)
	r.markers(c, t, series, who)
	r.allocations(c, t, series)
	r.scriptAllocations(c, t, series, who)
	for _, key := range []string{"jsTracer", "jsTracerEvents", "tracedValues", "tracedObjectShapes", "tracedValuesBuffer"} {
		if t.at(key).v != nil {
			r.lose(stream.ReasonUnsupported, "traces of JavaScript", 1)
		}
	}
	r.flush()
	r.done = max(r.done, t.v.Off)
}

// maxTexts bounds the bytes of text in rows before they are handed over.
const maxTexts = 8 << 20

// row begins a row that lasts from at to end; the caller adds the other columns.
func (r *reader) row(s stream.Series, at, end stream.Time) *stream.Batch {
	if r.rows.Full() || r.texts >= maxTexts {
		r.flush()
	}
	r.latest = max(r.latest, at, end)
	return r.rows.Row(s, r.t.Args(s), at)
}

// flush hands all rows over.
func (r *reader) flush() {
	r.rows.Hand()
	if r.texts = 0; !r.stopped {
		r.stopped = !r.yield(struct{}{})
	}
}

// lose adds a ledger line for the current process.
func (r *reader) lose(reason stream.Reason, what string, count int64) {
	r.t.Ledger.Add(stream.Line{Process: r.instance, Reason: reason, What: what, Count: count})
}

// unplaced counts a cell that says something we have no place for.
func (r *reader) unplaced(t *table, i int, what string) {
	if raw := t.cells[i]; !isNull(raw) && string(raw) != "0" {
		r.lose(stream.ReasonUnsupported, what, 1)
	}
}

// ended notes why a table ended early, and what it lacks.
func (r *reader) ended(t *table, what string) {
	if t.ragged > 0 {
		r.lose(stream.ReasonTorn, "cells of "+what, t.ragged)
	}
	if t.rows == nil && t.length >= 0 && t.length != t.read && t.err() == nil && !r.spent {
		r.file.notes.add(stream.ReasonImpossible, t.of+".length", 0)
	}
	r.note(t.err())
}

// note records an error: damage goes to the ledger, anything else ends reading.
func (r *reader) note(err error) {
	var at *damage.Error
	switch {
	case err == nil:
		return
	case !errors.As(err, &at):
		r.err = errors.Join(r.err, err)
		return
	}
	reason := stream.ReasonMalformed
	switch {
	case errors.Is(err, damage.ErrTorn):
		reason = stream.ReasonTorn
	case !errors.Is(err, jsonfile.ErrSyntax) && !errors.Is(err, damage.ErrTooBig) && !errors.Is(err, jsonfile.ErrDepth) && !errors.Is(err, jsonfile.ErrMany):
		r.err = err
		return
	}
	r.t.Ledger.Add(stream.Line{Process: r.instance, Reason: reason, What: "JSON", Where: fmt.Sprintf("byte %d", at.Off), Count: 1})
}

// source is the stream.Source of a reader.
type source struct {
	reader *reader
	next   func() (struct{}, bool)
	stop   func()
	over   bool
}

// Source returns the source of the processes that have an id in t. It is a stream.Progress and an
// io.Closer.
func (p *Profile) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	r := newReader(p, t, ids, shift)
	s := &source{reader: r}
	s.next, s.stop = iter.Pull(r.read)
	return s
}

// Next implements stream.Source.
func (s *source) Next(b *stream.Batch) error {
	if s.over {
		b.Reset(stream.Series{}, 0)
		return io.EOF
	}
	if s.reader.layout == nil {
		s.reader.locate()
	}
	s.reader.t.Lock()
	defer s.reader.t.Unlock()
	for !s.reader.rows.Take(b) {
		if _, ok := s.next(); ok {
			continue
		}
		s.over = true
		b.Reset(stream.Series{}, 0)
		if err := s.reader.err; err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		return io.EOF
	}
	return nil
}

// Tables implements stream.Source.
func (s *source) Tables() *stream.Tables { return s.reader.t }

// Progress implements stream.Progress.
func (s *source) Progress() (done, total int64) { return s.reader.done, s.reader.profile.file.size }

// Close ends the source.
func (s *source) Close() error {
	s.stop()
	s.over = true
	return nil
}
