package decode

import (
	"fmt"

	"gprof/dedupe"
	"gprof/rawformat/roots"
	"gprof/stream"
	"gprof/stream/gonames"
)

// view is what a worker knows of a dictionary: ids of the tables it has met, and the batches for
// rows. It is the worker's own, so an entry takes no lock.
type view struct {
	dict      *dictionary
	lanes     map[trackKey]*lane
	main      *lane
	tracks    []*lane         // by id of the recording; nil where not used yet
	numbers   []numberedTrack // likewise, while samples are gathered
	roots     []*lane         // by index in dict.roots, likewise
	counters  []slot          // by id of the recording
	threads   map[uint64]*lane
	starts    map[uint64]*lane // by address where a goroutine began
	labels    map[uint64]stream.LabelsID
	undefined map[undefinedKey]*event
	waits     map[waitKey]wait
	offs      map[offKey]wait
}

// lane is a track with the slots of its series.
type lane struct {
	process stream.ProcessID
	id      stream.TrackID
	numbered
	samples, delays slot
	allocations     slot
	waits           slot
	buffer          *sampleBuffer // for the batch of samples
	markers         []slot        // by event number
}

// numbered is the number that the series of a lane's samples has among those that are gathered. Those of thousands of
// lanes stay in the cache, if they lie side by side.
type numbered struct {
	number    int32
	numbering uint32 // in which it has that number; the first is 1
}

// numberedTrack is a lane and its number.
type numberedTrack struct {
	lane *lane
	numbered
}

// series is that of the lane's samples.
func (l *lane) series() stream.Series {
	return stream.Series{Process: l.process, Kind: stream.Samples, Track: l.id}
}

// undefinedKey is an undefined event. Other arguments make another event, so the order does not
// matter.
type undefinedKey struct{ id, shape uint64 }

// Higher ids have no slot: hostile ids must not make tables larger than the recording.
const (
	maxEventSlots   = 64
	maxCounterSlots = 256
	maxStarts       = 1 << 16
)

// viewOf returns the worker's view of a generation.
func (w *worker) viewOf(generation uint32) *view {
	p := w.job.process
	d := p.dicts[generation]
	v := w.views[d]
	if v == nil {
		v = w.newView()
		v.dict = d
		w.views[d] = v
		w.view = v
		v.main = w.newLane(p.main)
		v.lanes[trackKey{p.name, mainTrack}] = v.main
	}
	return v
}

// newView returns an empty view.
func (w *worker) newView() (v *view) {
	if w.spare != nil {
		v, w.spare = w.spare, nil
		return v
	}
	return &view{lanes: map[trackKey]*lane{}, threads: map[uint64]*lane{}, starts: map[uint64]*lane{}, labels: map[uint64]stream.LabelsID{}, undefined: map[undefinedKey]*event{}, waits: map[waitKey]wait{}, offs: map[offKey]wait{}}
}

// maxLanes is how many lanes a worker keeps to use them again.
const maxLanes = 64

// newLane returns the lane of a track of the process.
func (w *worker) newLane(id stream.TrackID) *lane {
	if w.lanes == nil {
		w.lanes = make([]lane, 0, maxLanes)
	}
	if len(w.lanes) == maxLanes {
		return &lane{process: w.job.process.ID, id: id}
	}
	w.lanes = append(w.lanes, lane{process: w.job.process.ID, id: id})
	return &w.lanes[len(w.lanes)-1]
}

// forget forgets what is known of a process, and keeps memory for the next one if it is little: there may be thousands of small
// ones, and to empty what was large takes long for each.
func (w *worker) forget() {
	for _, v := range w.views {
		if w.spare == nil && v.isSmall() {
			w.spare = v.emptied()
		}
	}
	clear(w.views)
	w.lanes = w.lanes[:0]
}

func (v *view) isSmall() bool {
	return len(v.lanes)+len(v.threads)+len(v.starts)+len(v.labels)+len(v.undefined)+len(v.waits)+len(v.offs) <= 2*maxLanes
}

// emptied returns v without what it knows.
func (v *view) emptied() *view {
	clear(v.lanes)
	clear(v.threads)
	clear(v.starts)
	clear(v.labels)
	clear(v.undefined)
	clear(v.waits)
	clear(v.offs)
	*v = view{lanes: v.lanes, tracks: v.tracks[:0], roots: v.roots[:0], counters: v.counters[:0], threads: v.threads, starts: v.starts,
		labels: v.labels, undefined: v.undefined, waits: v.waits, offs: v.offs}
	return v
}

// lane returns that of a track.
func (w *worker) lane(k trackKey) *lane {
	l := w.view.lanes[k]
	if l == nil {
		l = w.newLane(k.intern(w.run.tables, w.job.process.ID))
		w.view.lanes[k] = l
	}
	return l
}

// track is the lane of a track id, 0 the main track.
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
	if defined && id < uint64(len(v.dict.tracks.dense)) {
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
	return w.trackNames.Text(w.view.dict.bytes(t)), true
}

// currentLane is the lane of a marker in the current context.
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
	switch {
	case track == 0 && w.context.root != 0:
		return w.lane(trackKey{roots.Name(string(w.text(w.context.root)), ""), rootTrack})
	case track == 0 && w.context.start != 0:
		return w.startLane(w.context.start)
	}
	return w.track(track)
}

// startLane is the lane of goroutines that began at an address. A process that was killed may not
// have named it yet: then the code there tells, unless the compiler made it, around a function that
// is not known.
func (w *worker) startLane(start uint64) *lane {
	l := w.view.starts[start]
	if l != nil {
		return l
	}
	if name, ok := w.rootName(start); ok {
		l = w.lane(trackKey{roots.Name(name, ""), rootTrack})
	} else {
		w.run.tables.Lock()
		link := w.view.dict.rawStack(&w.run.names, []uint64{start})
		w.run.tables.Unlock()
		if l = w.view.main; link.sid != 0 {
			l = w.rootLane(int(link.root))
		}
	}
	if len(w.view.starts) < maxStarts {
		w.view.starts[start] = l
	}
	return l
}

// rootName is the name of the function at an address where goroutines began. A marker that was made
// while a new dictionary began may have it in that one only; the address is the same function's there.
func (w *worker) rootName(start uint64) (name string, ok bool) {
	if id, ok := w.view.dict.began[start]; ok {
		return string(w.text(id)), true
	}
	w.job.process.each(func(d *dictionary) {
		if id, named := d.began[start]; named {
			name, ok = d.string(id), true
		}
	})
	return name, ok
}

// sampleLane is the lane of a sample: its track's, or its stack's root function's, or its thread's.
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
	l := w.lane(trackKey{w.rootNameOf(root), rootTrack})
	v.roots = keepLane(v.roots, root, l)
	return l
}

func (w *worker) rootNameOf(root int) string {
	d := w.view.dict
	if root < len(d.linked) {
		return d.linked[root]
	}
	w.run.tables.Lock()
	defer w.run.tables.Unlock()
	return d.roots[root]
}

// labelSet is the set of an id of the recording, 0 for none.
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

// event returns the event with that id, or a stand-in without a definition.
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

// trackKey is a track of a process: the main one, one of the program, of a root function, or of a
// thread.
type trackKey struct {
	name string
	kind trackKind
}

type trackKind uint8

const (
	mainTrack trackKind = iota
	namedTrack
	rootTrack
	threadTrack
)

// rootDepth is how many frames determine the root of a stack.
const rootDepth = 3

// rootOf names the track of a stack by its outermost functions. runtime.goexit is ignored; it is in
// stacks of programs with C. C without frame pointers begins anywhere, so all of its threads are
// one track.
func rootOf(t *stream.Tables, stack stream.StackID) string {
	var outer [rootDepth]stream.Frame
	for stack != 0 {
		parent, frame := t.Stacks.At(stack)
		outer, stack = [rootDepth]stream.Frame{t.Frames.At(frame), outer[0], outer[1]}, parent
	}
	root, next := outer[0], outer[1]
	if t.Strings.At(root.Function) == "runtime.goexit" && next.Function != 0 {
		root, next = next, outer[2]
	}
	if root.Function != 0 && root.Category != 0 && t.Categories.At(root.Category) == gonames.Native {
		return roots.Native
	}
	return roots.Name(t.Strings.At(root.Function), t.Strings.At(next.Function))
}

func (k trackKey) track(p stream.ProcessID) stream.Track {
	return stream.Track{Process: p, Name: k.name, Main: k.kind == mainTrack}
}

// intern returns the track's id. A track of the program is not taken for a function's of the same
// name, whichever came first: their rows are one track, which is not a root.
func (k trackKey) intern(t *stream.Tables, p stream.ProcessID) (id stream.TrackID) {
	t.Tracks.Use(func(tracks *dedupe.Set[stream.Track, stream.TrackID]) {
		known := tracks.Len()
		id = tracks.Intern(k.track(p))
		track := tracks.At(id)
		root := k.kind >= rootTrack && (track.Root || int(id) > known)
		if root != track.Root {
			track.Root = root
			tracks.Amend(id, track)
		}
	})
	return id
}

func (p *process) mainTrack() stream.Track { return trackKey{p.name, mainTrack}.track(p.ID) }

// live changes the life of a track.
func (w *worker) live(id uint64, change func(*life)) {
	name, _ := w.trackName(id)
	w.run.tables.Lock()
	defer w.run.tables.Unlock()
	lives := w.job.process.lives
	if lives[name] == nil {
		lives[name] = &life{}
	}
	change(lives[name])
}

// amendTracks sets when the program's own tracks with rows began and ended.
func (p *process) amendTracks(t *stream.Tables) {
	for name, l := range p.lives {
		track := trackKey{name, namedTrack}.track(p.ID)
		t.Tracks.Use(func(tracks *dedupe.Set[stream.Track, stream.TrackID]) {
			if id := tracks.Lookup(track); id != 0 {
				track.Start, track.End = l.start, l.end
				if l.end < l.again {
					track.End = 0
				}
				tracks.Amend(id, track)
			}
		})
	}
}
