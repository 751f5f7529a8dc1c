package gecko

import (
	"errors"
	"fmt"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// reader reads the rows of a profile.
type reader struct {
	*layout
	profile *Profile

	t     *stream.Tables
	ids   []stream.ProcessID
	shift stream.Time
	out   collector
	err   error // of the file below
	done  int64 // bytes
	held  int64 // bytes of memory beside those of code
	spent bool  // nobody wants more

	instance      string          // of the process being read, for the ledger
	arch          string          // of its modules
	pagesOf       *jsonfile.Value // object that has its pages
	zero          stream.Time
	categories    [][]stream.CategoryID // of the file, each with its parts
	categoryNames []string
	noCategories  bool  // the file lists none: see oldCategories
	cpuUnit       int64 // ns in a CPU time of a sample, 0 unknown
	survey        survey
	oldPages      oldPages
	delayed       bool // the samples of the thread tell delays

	unscripted      bool // frames don't say whether they are shown with those of scripts
	unplacedScripts bool // names of functions say where they are

	pids        map[string]bool
	sharedTexts *texts
	code        *code // that was loaded last
	codeOf      *jsonfile.Value
}

func newReader(p *Profile, t *stream.Tables, ids []stream.ProcessID, shift stream.Time) *reader {
	return &reader{profile: p, t: t, ids: ids, shift: shift}
}

// errChanged says that a file is not what it was when it was opened.
var errChanged = errors.New("has changed since it was opened")

// locate finds out where things are. It does not use the tables.
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

// hold counts memory that is needed up to the end of the file.
func (r *reader) hold(bytes int64) {
	r.held += bytes
	r.t.Hold(bytes)
}

// read reads all processes that are wanted.
func (r *reader) read(yield func(*stream.Batch) bool) {
	if r.err != nil {
		return
	}
	r.out = collector{t: r.t, yield: yield, last: map[stream.ProcessID]uint64{}}
	defer func() {
		r.flushNotes()
		r.dropCode()
		r.hold(-r.held)
	}()
	r.hold(r.layout.held)
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

// goesOn reports whether there is anybody who wants more, and room for it.
func (r *reader) goesOn() bool { return r.err == nil && !r.out.stopped && !r.t.Full() }

// cutShort reports whether columns may be missing whose rows are there. Without
// them others would mean something else.
func (r *reader) cutShort() bool { return r.damage != nil && r.processed() }

// full reports whether the tables are full. It asks rarely, and not again if they are.
func (r *reader) full() bool {
	r.out.asked++
	r.spent = r.spent || r.out.asked%1024 == 0 && !r.goesOn()
	return r.spent
}

// enter makes x the process that is being read.
func (r *reader) enter(x *process) {
	r.instance = fmt.Sprintf("%016x", x.row.Instance)
	r.zero, r.arch = x.zero+r.shift, x.row.Machine()
	r.pagesOf, r.file.notes.process, r.file.zero = x.v, x.number, max(0, int64(r.zero))
}

// flushNotes writes what was noted into the ledger.
func (r *reader) flushNotes() {
	var instances []string
	for _, x := range r.processes {
		instances = append(instances, fmt.Sprintf("%016x", x.row.Instance))
	}
	r.file.notes.flush(&r.t.Ledger, instances)
}

// process reads one process.
func (r *reader) process(x *process, id stream.ProcessID) {
	r.enter(x)
	r.setOutTracks(x, id)
	for _, t := range x.threads {
		if r.goesOn() {
			r.thread(x, t, id)
		}
	}
	r.parts(x, id)
	r.out.flush()
	if x.about.v == nil {
		r.live(id)
	}
}

// setOutTracks interns the tracks of a process. Each process has a main one.
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

// track is the track of a thread.
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

// live is when a process ended: behind its last row, whatever the file says of it, by
// the time that a sample stands for. What is not before the end the viewer does not
// show.
func (r *reader) live(id stream.ProcessID) {
	p := r.t.Process(id)
	if p.End = max(p.Start, p.End); r.out.latest >= p.End {
		p.End = r.out.latest + stream.Time(p.Interval)
	}
	r.out.latest = 0
}

// thread reads the rows of a thread.
func (r *reader) thread(x *process, t *thread, id stream.ProcessID) {
	t.required("name", "samples", "markers")
	c := r.loadCode(x, t)
	series := stream.Series{Process: id, Track: r.track(t, id)}
	who := stream.Who{Thread: t.track.Thread}
	if x.about.v != nil {
		who = stream.Who{} // it is a number of the output's
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
	r.out.flush()
	r.done = max(r.done, t.v.Off)
}

// lose adds to the ledger of the process being read.
func (r *reader) lose(reason stream.Reason, what string, count int64) {
	r.t.Ledger.Add(stream.Line{Process: r.instance, Reason: reason, What: what, Count: count})
}

// unplaced counts a cell that says something for which there is no place.
func (r *reader) unplaced(t *table, i int, what string) {
	if raw := t.cells[i]; !isNull(raw) && string(raw) != "0" {
		r.lose(stream.ReasonUnsupported, what, 1)
	}
}

// ended notes what ended a table too early, and what is missing in it.
func (r *reader) ended(t *table, what string) {
	if t.ragged > 0 {
		r.lose(stream.ReasonTorn, "cells of "+what, t.ragged)
	}
	if t.rows == nil && t.length >= 0 && t.length != t.read && t.err() == nil && !r.spent {
		r.file.notes.add(stream.ReasonImpossible, t.of+".length", 0)
	}
	r.note(t.err())
}

// note notes what is wrong with the file at some place: in the ledger, or, if it
// can't be read any more, for whoever reads.
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
