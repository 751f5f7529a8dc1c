package decode

import (
	"fmt"

	"gprof/stream"
	"gprof/stream/gonames"
)

// view is what one worker knows of one dictionary: the tables' ids of what it
// came across, and the batches that rows of it go to. It is the worker's own, so
// that an entry takes no lock.
type view struct {
	dict      *dictionary
	lanes     map[trackKey]*lane
	main      *lane
	tracks    []*lane // by id of the recording; nil where not used yet
	roots     []*lane // by index in dict.roots, likewise
	counters  []slot  // by id of the recording
	threads   map[uint64]*lane
	labels    map[uint64]stream.LabelsID
	undefined map[undefinedKey]*event
	waits     map[waitKey]wait
	offs      map[offKey]wait
}

// lane is a track with the slots of its series.
type lane struct {
	id              stream.TrackID
	samples, delays slot
	allocations     slot
	waits           slot
	markers         []slot // by number of the event
}

// undefinedKey is an event without a definition. What has other arguments is
// another event, so that it does not matter which comes first.
type undefinedKey struct{ id, shape uint64 }

// Ids from these on have no slot of their own: hostile ids must not make tables
// that are larger than the recording.
const (
	maxTrackSlots   = 1 << 12
	maxEventSlots   = 64
	maxCounterSlots = 256
)

// viewOf returns the worker's view of a generation.
func (w *worker) viewOf(generation uint32) *view {
	p := w.job.process
	d := p.dicts[generation]
	v := w.views[d]
	if v == nil {
		v = &view{dict: d, lanes: map[trackKey]*lane{}, threads: map[uint64]*lane{}, labels: map[uint64]stream.LabelsID{}, undefined: map[undefinedKey]*event{}, waits: map[waitKey]wait{}, offs: map[offKey]wait{}}
		w.views[d] = v
		w.view = v
		v.main = w.lane(trackKey{p.name, mainTrack})
	}
	return v
}

// lane returns that of a track.
func (w *worker) lane(k trackKey) *lane {
	l := w.view.lanes[k]
	if l == nil {
		w.run.tables.Lock()
		l = &lane{id: k.intern(w.run.tables, w.job.process.ID)}
		w.run.tables.Unlock()
		w.view.lanes[k] = l
	}
	return l
}

// track is that of a track id of the recording, 0 being the main track.
func (w *worker) track(id uint64) *lane {
	v := w.view
	if id == 0 {
		return v.main
	}
	if id < uint64(len(v.tracks)) && v.tracks[id] != nil {
		return v.tracks[id]
	}
	name, defined := w.trackName(id)
	l := w.lane(trackKey{name, namedTrack})
	if defined && id < maxTrackSlots {
		v.tracks = keepLane(v.tracks, int(id), l)
	}
	return l
}

func keepLane(lanes []*lane, i int, l *lane) []*lane {
	for len(lanes) <= i {
		lanes = append(lanes, nil)
	}
	lanes[i] = l
	return lanes
}

func (w *worker) trackName(id uint64) (name string, defined bool) {
	t := w.view.dict.tracks.get(id)
	if t.at == 0 {
		name = fmt.Sprintf("track %d", id)
		w.note(stream.ReasonUndefined, "tracks", name)
		return name, false
	}
	return string(w.view.dict.bytes(t)), true
}

// currentLane is where a marker of the current context belongs.
func (w *worker) currentLane() *lane {
	if w.where == nil {
		w.where = w.contextLane()
	}
	return w.where
}

func (w *worker) contextLane() *lane {
	track := w.context.track
	if w.run.grouping == ByRoot {
		track = 0
	}
	if track == 0 && w.context.root != 0 {
		return w.lane(trackKey{gonames.Root(string(w.text(w.context.root)), ""), rootTrack})
	}
	return w.track(track)
}

// sampleLane is where a sample belongs: to its track, or with all others whose
// stack begins in the same function; or to its thread.
func (w *worker) sampleLane(thread, track uint64, stack stackLink) *lane {
	switch {
	case w.run.grouping == ByThread && thread != 0:
		return w.threadLane(thread)
	case track != 0 && w.run.grouping != ByRoot:
		return w.track(track)
	case stack.sid == 0:
		return w.view.main
	}
	return w.rootLane(int(stack.root))
}

func (w *worker) threadLane(thread uint64) *lane {
	v := w.view
	l := v.threads[thread]
	if l == nil {
		l = w.lane(trackKey{fmt.Sprintf("thread %d", thread), threadTrack})
		v.threads[thread] = l
	}
	return l
}

func (w *worker) rootLane(root int) *lane {
	v := w.view
	if root < len(v.roots) && v.roots[root] != nil {
		return v.roots[root]
	}
	w.run.tables.Lock()
	name := v.dict.roots[root] // raw stacks add to them
	w.run.tables.Unlock()
	l := w.lane(trackKey{name, rootTrack})
	v.roots = keepLane(v.roots, root, l)
	return l
}

// labelSet is that of an id of the recording, 0 being none.
func (w *worker) labelSet(id uint64) stream.LabelsID {
	if id == 0 {
		return 0
	}
	known, ok := w.view.labels[id]
	if !ok {
		set, defined := w.view.dict.labelSet(id)
		if !defined {
			w.note(stream.ReasonUndefined, "label sets", "")
			return 0
		}
		w.run.tables.Lock()
		known = w.run.tables.Labels.Intern(set)
		w.run.tables.Unlock()
		w.view.labels[id] = known
	}
	return known
}

// event returns the event with that id, or one that stands for it when its
// definition is missing.
func (w *worker) event(id uint64, args []arg) *event {
	v := w.view
	if e := v.dict.events.get(id); e != nil {
		return e
	}
	k := undefinedKey{id, shapeOf(args)}
	e := v.undefined[k]
	if e == nil {
		e = &event{def: undefinedEvent(id, args), undefined: true, number: len(v.dict.defined) + len(v.undefined)}
		w.run.tables.Lock()
		e.id = w.run.tables.AddEvent(e.def)
		w.run.tables.Unlock()
		v.undefined[k] = e
	}
	return e
}

func shapeOf(args []arg) uint64 {
	shape := uint64(1)
	for _, a := range args {
		shape = shape<<2 | uint64(a.wire&3)
	}
	return shape
}

// markers returns the batch of an event on a track.
func (w *worker) markers(l *lane, e *event) *stream.Batch {
	s := stream.Series{Process: w.job.process.ID, Kind: stream.Markers, Track: l.id, Event: e.id}
	if e.number >= maxEventSlots {
		return w.rows.batch(s, len(e.def.Fields))
	}
	for len(l.markers) <= e.number {
		l.markers = append(l.markers, slot{})
	}
	return w.rows.in(&l.markers[e.number], s, len(e.def.Fields))
}

// counts returns the batch of a counter.
func (w *worker) counts(id uint64) *stream.Batch {
	v := w.view
	if id < uint64(len(v.counters)) && v.counters[id].flight == w.rows.flight+1 {
		return v.counters[id].batch
	}
	s := stream.Series{Process: w.job.process.ID, Kind: stream.Counts}
	k := v.dict.counters.get(id)
	if k == nil {
		s.Counter = w.undefinedCounter(id)
		return w.rows.batch(s, 0)
	}
	s.Counter = k.id
	if id >= maxCounterSlots {
		return w.rows.batch(s, 0)
	}
	for uint64(len(v.counters)) <= id {
		v.counters = append(v.counters, slot{})
	}
	return w.rows.in(&v.counters[id], s, 0)
}

func (w *worker) undefinedCounter(id uint64) stream.CounterID {
	name := fmt.Sprintf("counter %d", id)
	w.note(stream.ReasonUndefined, "counters", name)
	w.run.tables.Lock()
	defer w.run.tables.Unlock()
	return w.run.tables.Counters.Intern(stream.Counter{Process: w.job.process.ID, Name: name})
}

// series returns the batch of a kind of which a process has one.
func (w *worker) series(k stream.Kind, args int) *stream.Batch {
	return w.rows.batch(stream.Series{Process: w.job.process.ID, Kind: k}, args)
}
