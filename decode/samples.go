package decode

import (
	"math"

	"gprof/rawformat"
	"gprof/stream"
)

// pendingSample is a sample that is not a row yet. Its Time and Stack come with the others of its page.
type pendingSample struct {
	stream.SampleRow
	tick         uint64    // for an idle thread, since its last sample
	track, stack uint64    // of the recording; stack as in the field
	link         stackLink // of the stack
	like         repetition
}

// repetition is what a sample shares with the one before it of its thread.
type repetition uint8

const (
	likeNone  repetition = iota
	likeStack            // track and stack
	likeAll              // goroutine and labels, too, and the time is relative
)

// sampling is the state that busy and idle blocks of a page build on.
type sampling struct{ thread, track, period, goroutine uint64 }

// cpu is the CPU time of a sample of which it was not measured: the period, or -1 if that is unknown.
func (of *sampling) cpu() int64 {
	if of.period == 0 {
		return -1
	}
	return known(of.period+1) - 1
}

// busy is the CPU time of one of which it was, as in the field; -1 if it is unknown.
func (of *sampling) busy(excess uint64) int64 {
	if of.period == 0 {
		return -1
	}
	return known(rawformat.BusyTime(of.period, rawformat.Unzigzag(excess))+1) - 1
}

// wait adds the next sample to those that are pending. It makes rows of these, if no more may wait: they must be complete.
func (w *worker) wait(thread, goroutine uint64) *pendingSample {
	if w.waiting == uint(len(w.pending)) {
		w.addSamples()
	}
	s := &w.pending[w.waiting]
	*s = pendingSample{SampleRow: stream.SampleRow{Index: w.index, Thread: known(thread), Goroutine: known(goroutine), Labels: w.labels}, tick: w.tick}
	w.waiting++
	return s
}

// sample ignores the window: the recorder's "cpu window" markers show it.
func (w *worker) sample(e *entry) {
	s := w.wait(e.v[1], e.v[2])
	s.track, s.Weight, s.CPU = e.v[3], known(e.v[5]), known(e.v[6])-1
	w.setStack(s, e.v[4])
}

func (w *worker) setStack(s *pendingSample, field uint64) {
	if s.stack = field; field == inlineStack {
		s.link = w.inlineLink()
	}
}

func (w *worker) sameSample(e *entry) {
	s := w.wait(e.v[1], e.v[2])
	s.Weight, s.CPU, s.like = known(e.v[3]), known(e.v[4])-1, likeStack
}

func (w *worker) setSampling(e *entry) {
	w.sampling.track = e.v[0]
	if period := e.v[1]; period != 0 {
		w.sampling.period = period
	}
}

// busy is a sample relative to the blocks before.
func (w *worker) busy(e *entry) {
	of := &w.sampling
	of.thread += uint64(rawformat.Unzigzag(e.v[1]))
	of.goroutine += uint64(rawformat.Unzigzag(e.v[2]))
	s := w.wait(of.thread, of.goroutine)
	s.track, s.Weight, s.CPU = of.track, 1, of.cpu()
	w.setStack(s, e.v[3])
}

// busyFor is busy with CPU time that was measured.
func (w *worker) busyFor(e *entry) {
	w.busy(e)
	w.pending[w.waiting-1].CPU = w.sampling.busy(e.v[4])
}

func (w *worker) idle(e *entry) {
	s := w.wait(w.sampling.thread+uint64(rawformat.Unzigzag(e.v[0])), 0)
	s.tick, s.CPU, s.like = e.v[1]*rawformat.SampleUnit, 0, likeAll
}

// place is where a sample belongs.
type place struct {
	lane   *lane // nil for one like the one before it
	number int32 // of the series that it is gathered in
	last   int32 // among the last samples of threads; below 0: there is none
}

// addSamples makes rows of pending samples, those of some blocks at once: looking up their stacks
// together overlaps cache misses, in a fifth of the time.
func (w *worker) addSamples() {
	pending := w.pending[:w.waiting]
	if len(pending) == 0 {
		return
	}
	links := w.view.dict.stacks.dense
	for i := range pending { // does nothing else, so that it waits for several at a time
		s := &pending[i]
		if at := s.stack - 1; at < uint64(len(links)) && at > 0 {
			s.link = links[at].link()
		}
	}
	first, latest := w.first, w.latest
	for i := range pending {
		s := &pending[i]
		if s.link.sid == 0 {
			w.withoutLink(s)
		}
		s.Stack = s.link.sid // long before the row is copied: a wide load that follows a narrow store to its place waits
		if s.like == likeAll {
			continue
		}
		if s.Time = stream.Time(s.tick) + w.offset; w.uneven {
			s.Time = w.moment(s.tick)
		}
		first, latest = min(first, s.Time), max(latest, s.Time)
	}
	w.first, w.latest = first, latest
	if w.rows.gathers {
		w.addGathered()
	} else {
		w.addToLanes()
	}
	w.waiting = 0
}

// addGathered adds samples of many tracks, which are looked up together like their stacks: so many lanes and threads, too, are
// far from each other in memory.
func (w *worker) addGathered() {
	w.places = w.knownPlaces(w.places[:0])
	for i := range w.places {
		s, at := &w.pending[i], &w.places[i]
		who := whoOf(uint64(s.Thread), uint64(s.Goroutine))
		if s.like != likeNone {
			at.last = w.last.find(who)
			continue
		}
		if at.last = w.last.place(who); at.lane == nil {
			at.lane, at.number = w.numberedLane(s)
		}
	}
	for i, at := range w.places {
		w.addSample(at, &w.pending[i])
	}
}

// knownPlaces appends the lanes of pending samples, and the numbers of their series, as far as they are in the list of tracks.
// The loop does nothing else, so that it waits for several of them at a time.
func (w *worker) knownPlaces(places []place) []place {
	w.rows.gathering()
	tracks, numbering := w.view.numbers, w.rows.numbering
	if w.run.grouping == ByThread {
		tracks = nil
	}
	for i := range w.pending[:w.waiting] {
		var at place
		if n := w.pending[i].track; n < uint64(len(tracks)) && tracks[n].numbering == numbering {
			at.lane, at.number = tracks[n].lane, tracks[n].number
		}
		places = append(places, at)
	}
	return places
}

// withoutLink looks up the stack of a sample that is not among the others.
func (w *worker) withoutLink(s *pendingSample) {
	if s.stack > inlineStack {
		if s.link = w.view.dict.stacks.sparse[s.stack-1].link(); s.link.sid == 0 {
			w.note(stream.ReasonUndefined, "stacks", "")
		}
	}
	if s.link.sid == 0 {
		s.link.root = noRoot
	}
}

// noRoot is the root of no stack.
const noRoot = -1

// addToLanes adds samples of few tracks.
func (w *worker) addToLanes() {
	pending := w.pending[:w.waiting]
	for i := range pending {
		s := &pending[i]
		who := whoOf(uint64(s.Thread), uint64(s.Goroutine))
		if s.like != likeNone {
			w.addLike(place{last: w.last.find(who)}, s)
			continue
		}
		at, known := w.last.near(who)
		if !known {
			at = w.last.place(who)
		}
		last := &w.last.samples[at]
		l := last.lane
		if l == nil || last.again || s.track != last.track || s.link.root != last.link.root {
			l = w.sampleLane(uint64(s.Thread), s.track, s.link)
			last.lane, last.track = l, s.track
			last.again = s.track != 0 && w.view.dict.tracks.get(s.track).at == 0
		}
		last.goroutine, last.labels, last.link, last.tick = s.Goroutine, s.Labels, s.link, s.tick
		w.rows.addSample(l, &s.SampleRow)
	}
}

// numberedLane is the lane of a sample, and the number of its series, which it lists by its track.
func (w *worker) numberedLane(s *pendingSample) (l *lane, number int32) {
	v := w.view
	l = w.sampleLane(uint64(s.Thread), s.track, s.link)
	number = w.rows.gathering().number(l, w.rows.numbering)
	if s.track < uint64(len(v.tracks)) && v.tracks[s.track] == l {
		v.numbers = append(v.numbers, make([]numberedTrack, len(v.tracks)-len(v.numbers))...)
		v.numbers[s.track] = numberedTrack{l, l.numbered}
	}
	return l, number
}

func (w *worker) addSample(at place, s *pendingSample) {
	if s.like != likeNone {
		w.addLike(at, s)
		return
	}
	last := &w.last.samples[at.last]
	last.goroutine, last.labels, last.lane, last.link, last.tick, last.again = s.Goroutine, s.Labels, at.lane, s.link, s.tick, true
	w.addTo(at, s)
}

// addLike adds a sample that repeats the last one of its thread.
func (w *worker) addLike(at place, s *pendingSample) {
	switch {
	case at.last < 0 && w.chunk.Cut:
		w.note(stream.ReasonLeftOut, "samples", "that repeat one before the slice")
		return
	case at.last < 0:
		w.note(stream.ReasonNoStack, "samples", "")
		return
	}
	last := &w.last.samples[at.last]
	if s.like == likeAll {
		s.Goroutine, s.Labels = last.goroutine, last.labels
		s.tick += last.tick
		s.Time = w.moment(s.tick)
		w.first, w.latest = min(w.first, s.Time), max(w.latest, s.Time)
	}
	last.tick = s.tick
	if at.lane = last.lane; w.rows.gathers {
		at.number = w.rows.gathering().number(at.lane, w.rows.numbering)
	}
	s.Stack = last.link.sid
	w.addTo(at, s)
}

func (w *worker) addTo(at place, s *pendingSample) {
	if w.rows.gathers {
		w.rows.gather(at.number, &s.SampleRow)
		return
	}
	w.rows.addSample(at.lane, &s.SampleRow)
}

// known is a number of the recording, 0 if impossible.
func known(number uint64) int64 {
	if number > math.MaxInt64 {
		return 0
	}
	return int64(number)
}

// lastSamples has the last sample of each thread in a chunk: a list, and an open-addressed table of places in it. Its slots
// have the number of the chunk, so clearing it is counting on.
type lastSamples struct {
	samples []lastSample
	slots   []lastSlot // a power of two
	chunk   uint32
}

type lastSample struct {
	who       uint64
	goroutine int64
	tick      uint64
	track     uint64
	lane      *lane
	link      stackLink
	labels    stream.LabelsID
	again     bool // the lane is to be looked up: each sample of a track that is not defined is noted
}

type lastSlot struct {
	chunk uint32
	place int32
}

// whoOf is a thread, or a goroutine if that is unknown.
func whoOf(thread, goroutine uint64) uint64 {
	if thread == 0 {
		return ^goroutine
	}
	return thread
}

func (l *lastSamples) clear() {
	l.samples = l.samples[:0]
	if l.chunk++; l.chunk == 0 || l.slots == nil {
		l.slots, l.chunk = make([]lastSlot, 64), 1
	}
}

// slot returns the slot of who, which may be free.
func (l *lastSamples) slot(who uint64) *lastSlot {
	mask := uint64(len(l.slots) - 1)
	for i := who * 0x9e3779b97f4a7c15 >> 40 & mask; ; i = (i + 1) & mask {
		if s := &l.slots[i]; s.chunk != l.chunk || l.samples[s.place].who == who {
			return s
		}
	}
}

// find returns the place of who in the list, below 0 if it has none.
func (l *lastSamples) find(who uint64) int32 {
	if s := l.slot(who); s.chunk == l.chunk {
		return s.place
	}
	return -1
}

// near returns the place of who, if it is where it belongs.
func (l *lastSamples) near(who uint64) (place int32, ok bool) {
	s := &l.slots[who*0x9e3779b97f4a7c15>>40&uint64(len(l.slots)-1)]
	return s.place, s.chunk == l.chunk && l.samples[s.place].who == who
}

// place returns the place of who in the list.
func (l *lastSamples) place(who uint64) int32 {
	s := l.slot(who)
	if s.chunk == l.chunk {
		return s.place
	}
	at := int32(len(l.samples))
	l.samples = append(l.samples, lastSample{who: who})
	if *s = (lastSlot{l.chunk, at}); 2*len(l.samples) > len(l.slots) {
		l.grow()
	}
	return at
}

func (l *lastSamples) grow() {
	l.slots = make([]lastSlot, 2*len(l.slots))
	for i := range l.samples {
		*l.slot(l.samples[i].who) = lastSlot{l.chunk, int32(i)}
	}
}

// waitingSuffix follows the names of tracks of waits, which are separate from running.
const waitingSuffix = " (waiting)"

var waitCategory = stream.Category{Name: "Waiting", Color: "grey"}

// waitKey is a stack, as in the field, and a reason.
type waitKey struct{ stack, reason uint64 }

// wait is where goroutines wait.
type wait struct {
	lane  *lane
	stack stream.StackID // with the reason as its innermost frame
}

// goroutinesWait adds a row of waiting goroutines.
func (w *worker) goroutinesWait(e *entry) {
	w.addWait(e, e.v[1], e.v[2], known(e.v[3]), known(e.v[4]), 0)
}

// goroutineWaits adds a row of one goroutine.
func (w *worker) goroutineWaits(e *entry) {
	w.addWait(e, e.v[2], e.v[3], 1, together(known(e.v[4]), known(e.v[5])), known(e.v[1]))
}

// addWait adds a row of goroutines that waited for wall each; of a single one the number may be known.
func (w *worker) addWait(e *entry, stack, reason uint64, goroutines, wall, number int64) {
	k := waitKey{stack, min(reason, uint64(len(rawformat.WaitReasons)))}
	at, ok := w.view.waits[k]
	if !ok {
		at = w.waitOf(k)
		if k.stack != inlineStack {
			w.view.waits[k] = at
		}
	}
	b := w.rows.in(&at.lane.waits, stream.Series{Process: w.job.process.ID, Kind: stream.Waits, Track: at.lane.id}, 0)
	w.row(b, e.at)
	b.AppendOwner(stream.Owner{Goroutine: number})
	b.Stack = append(b.Stack, at.stack)
	b.Value, b.Number = append(b.Value, together(goroutines, wall)), append(b.Number, goroutines)
}

// together is the time of n goroutines, saturated.
func together(goroutines, wall int64) int64 {
	if goroutines > 0 && wall > math.MaxInt64/goroutines {
		return math.MaxInt64
	}
	return goroutines * wall
}

// offKey is where and why a thread was off the CPU, as in the fields.
type offKey struct{ track, stack, reason uint64 }

// offCPU adds a row of the time that a thread was off the CPU.
func (w *worker) offCPU(e *entry) {
	k := offKey{e.v[2], e.v[3], min(e.v[4], uint64(len(rawformat.OffReasons)))}
	at, ok := w.view.offs[k]
	if !ok {
		at = w.offOf(k)
		if k.stack != inlineStack {
			w.view.offs[k] = at
		}
	}
	b := w.rows.in(&at.lane.waits, stream.Series{Process: w.job.process.ID, Kind: stream.Waits, Track: at.lane.id}, 0)
	w.row(b, e.at)
	b.Stack = append(b.Stack, at.stack)
	b.Value, b.Number = append(b.Value, known(e.v[5])), append(b.Number, 1)
}

// offOf resolves a key.
func (w *worker) offOf(k offKey) (at wait) {
	name := w.job.process.name
	if k.track != 0 {
		name, _ = w.trackName(k.track)
	}
	at.stack = w.waitingAt(w.waitLink(k.stack), rawformat.OffReasons, k.reason)
	at.lane = w.lane(trackKey{name + waitingSuffix, rootTrack})
	return at
}

// waitLink is the link of a stack field.
func (w *worker) waitLink(stack uint64) (link stackLink) {
	switch {
	case stack == inlineStack:
		link = w.inlineLink()
	case stack > inlineStack:
		if link = w.view.dict.stack(stack - 1); link.sid == 0 {
			w.note(stream.ReasonUndefined, "stacks", "")
		}
	}
	return link
}

// waitingAt is a stack with a reason as its innermost frame.
func (w *worker) waitingAt(link stackLink, reasons []string, reason uint64) stream.StackID {
	text := "unknown reason"
	if reason < uint64(len(reasons)) {
		text = reasons[reason]
	}
	w.run.tables.Lock()
	defer w.run.tables.Unlock()
	names := &w.run.names
	return w.run.tables.Stacks.Intern(link.sid, names.label("waiting: "+text, names.category(waitCategory)))
}

// waitOf resolves a key.
func (w *worker) waitOf(k waitKey) (at wait) {
	link := w.waitLink(k.stack)
	name := w.job.process.name
	at.stack = w.waitingAt(link, rawformat.WaitReasons, k.reason)
	if link.sid != 0 {
		name = w.rootNameOf(int(link.root))
	}
	at.lane = w.lane(trackKey{name + waitingSuffix, rootTrack})
	return at
}
