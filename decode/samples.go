package decode

import (
	"math"
	"slices"

	"gprof/rawformat"
	"gprof/stream"
)

// pendingSample is a sample that is not a row yet.
type pendingSample struct {
	at                stream.Time
	tick              uint64 // the same; for an idle thread, since its last sample
	index             uint64
	thread, goroutine uint64
	track, stack      uint64 // of the recording; stack as in the field
	weight, cpu       uint64
	link              stackLink // of the stack
	labels            stream.LabelsID
	like              repetition
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

// wait makes room for a sample, which is filled in place: copying what was just written in other
// sizes would stall.
func (w *worker) wait(e *entry, thread, goroutine uint64) *pendingSample {
	n := len(w.pending)
	if n == cap(w.pending) {
		w.pending = slices.Grow(w.pending, 1)
	}
	w.pending = w.pending[:n+1]
	s := &w.pending[n]
	s.at, s.tick, s.index = e.at, w.tick, w.index
	s.thread, s.goroutine, s.labels = thread, goroutine, w.labels
	s.track, s.stack, s.weight, s.cpu = 0, 0, 0, 0
	s.link, s.like = stackLink{}, likeNone
	return s
}

// sample ignores the window: the recorder's "cpu window" markers show it.
func (w *worker) sample(e *entry) {
	s := w.wait(e, e.v[1], e.v[2])
	s.track, s.weight, s.cpu = e.v[3], e.v[5], e.v[6]
	w.setStack(s, e.v[4])
}

func (w *worker) setStack(s *pendingSample, field uint64) {
	if s.stack = field; field == inlineStack {
		s.link = w.inlineLink()
	}
}

func (w *worker) sameSample(e *entry) {
	s := w.wait(e, e.v[1], e.v[2])
	s.weight, s.cpu, s.like = e.v[3], e.v[4], likeStack
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
	s := w.wait(e, of.thread, of.goroutine)
	s.track, s.weight = of.track, 1
	if of.period != 0 {
		s.cpu = of.period + 1
	}
	w.setStack(s, e.v[3])
}

// busyFor is busy with CPU time that was measured.
func (w *worker) busyFor(e *entry) {
	w.busy(e)
	if period := w.sampling.period; period != 0 {
		w.pending[len(w.pending)-1].cpu = rawformat.BusyTime(period, rawformat.Unzigzag(e.v[4])) + 1
	}
}

func (w *worker) idle(e *entry) {
	s := w.wait(e, w.sampling.thread+uint64(rawformat.Unzigzag(e.v[0])), 0)
	s.tick = e.v[1] * rawformat.SampleUnit
	s.cpu, s.like = 1, likeAll // 0 ns
}

// addSamples makes rows of pending samples, those of some blocks at once: looking up their stacks
// together overlaps cache misses, in a fifth of the time.
func (w *worker) addSamples() {
	dict := w.view.dict
	for i := range w.pending {
		if s := &w.pending[i]; s.stack > inlineStack {
			s.link = dict.stack(s.stack - 1)
		}
	}
	if w.rows.gathers {
		w.findLanes()
	}
	for i := range w.pending {
		s := &w.pending[i]
		switch {
		case s.like != likeNone:
			w.addLike(s)
		case w.rows.gathers:
			w.addSample(w.lanes[i], s)
		default:
			w.addSample(w.sampleLane(s.thread, s.track, s.link), s)
		}
	}
	w.pending = w.pending[:0]
}

// findLanes looks up the lanes of pending samples, and touches what is needed next of each: so many lanes and threads, too,
// are far from each other in memory.
func (w *worker) findLanes() {
	w.lanes = w.lanes[:0]
	g := w.rows.gathering()
	for i := range w.pending {
		s, l := &w.pending[i], (*lane)(nil)
		if s.like == likeNone {
			l = w.sampleLane(s.thread, s.track, s.link)
			g.number(l, w.rows.flight+1)
		}
		w.lanes = append(w.lanes, l)
		w.touched += w.last.chunkAt(whoOf(s.thread, s.goroutine))
	}
}

func (w *worker) addSample(l *lane, s *pendingSample) {
	if s.stack > inlineStack && s.link.sid == 0 {
		w.note(stream.ReasonUndefined, "stacks", "")
	}
	last := w.last.of(whoOf(s.thread, s.goroutine))
	last.goroutine, last.labels, last.lane, last.stack, last.tick = s.goroutine, s.labels, l, s.link.sid, s.tick
	w.addTo(l, s, s.link.sid)
}

// addLike adds a sample that repeats the last one of its thread.
func (w *worker) addLike(s *pendingSample) {
	last, ok := w.last.find(whoOf(s.thread, s.goroutine))
	switch {
	case !ok && w.chunk.Cut:
		w.note(stream.ReasonLeftOut, "samples", "that repeat one before the slice")
		return
	case !ok:
		w.note(stream.ReasonNoStack, "samples", "")
		return
	}
	if s.like == likeAll {
		s.goroutine, s.labels = last.goroutine, last.labels
		s.tick += last.tick
		s.at = w.moment(s.tick)
		w.first, w.latest = min(w.first, s.at), max(w.latest, s.at)
	}
	last.tick = s.tick
	w.addTo(last.lane, s, last.stack)
}

func (w *worker) addTo(l *lane, s *pendingSample, stack stream.StackID) {
	if w.rows.gathers {
		w.rows.gather(l, s, stack)
		return
	}
	b := w.rows.current(&l.samples)
	if b == nil {
		b = w.rows.in(&l.samples, l.series(), 0)
	}
	b.Time = append(b.Time, s.at)
	b.Index = append(b.Index, s.index)
	b.Stack = append(b.Stack, stack)
	b.Weight = append(b.Weight, known(s.weight))
	b.CPU = append(b.CPU, known(s.cpu)-1)
	w.rows.count++
	if before := len(b.Time) - 1; before > 0 && len(b.Thread) == before && len(b.Goroutine) == before && len(b.Labels) == 0 && s.labels == 0 && len(b.Span) == 0 {
		// AppendOwner, of most samples
		b.Thread, b.Goroutine = append(b.Thread, known(s.thread)), append(b.Goroutine, known(s.goroutine))
		return
	}
	b.AppendOwner(stream.Owner{Thread: known(s.thread), Goroutine: known(s.goroutine), Labels: s.labels})
}

// known is a number of the recording, 0 if impossible.
func known(number uint64) int64 {
	if number > math.MaxInt64 {
		return 0
	}
	return int64(number)
}

// lastSamples has the last sample of each thread in a chunk. It is an open-addressed table whose
// entries have the number of the chunk, so clearing it is counting on.
type lastSamples struct {
	slots []lastSample // a power of two
	used  int
	chunk uint32
}

type lastSample struct {
	who       uint64
	goroutine uint64
	tick      uint64
	lane      *lane
	stack     stream.StackID
	labels    stream.LabelsID
	chunk     uint32
	_         [3]uint32 // fills a cache line
}

// whoOf is a thread, or a goroutine if that is unknown.
func whoOf(thread, goroutine uint64) uint64 {
	if thread == 0 {
		return ^goroutine
	}
	return thread
}

func (l *lastSamples) clear() {
	l.used = 0
	if l.chunk++; l.chunk == 0 || l.slots == nil {
		l.slots, l.chunk = make([]lastSample, 64), 1
	}
}

// home is where the search for the slot of who begins.
func (l *lastSamples) home(who uint64) uint64 {
	return who * 0x9e3779b97f4a7c15 >> 40 & uint64(len(l.slots)-1)
}

// chunkAt is the chunk of the slot there.
func (l *lastSamples) chunkAt(who uint64) uint32 { return l.slots[l.home(who)].chunk }

// find returns the slot of who, and whether it is in use.
func (l *lastSamples) find(who uint64) (s *lastSample, used bool) {
	mask := uint64(len(l.slots) - 1)
	for i := l.home(who); ; i = (i + 1) & mask {
		s = &l.slots[i]
		if s.chunk != l.chunk {
			return s, false
		}
		if s.who == who {
			return s, true
		}
	}
}

// of returns the slot of who, to be filled in place, see [worker.wait].
func (l *lastSamples) of(who uint64) *lastSample {
	s, used := l.find(who)
	if !used {
		if l.used++; 2*l.used > len(l.slots) {
			l.grow()
			s, _ = l.find(who)
		}
		s.who, s.chunk = who, l.chunk
	}
	return s
}

func (l *lastSamples) grow() {
	old := l.slots
	l.slots = make([]lastSample, 2*len(old))
	for i := range old {
		if old[i].chunk == l.chunk {
			s, _ := l.find(old[i].who)
			*s = old[i]
		}
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
		w.run.tables.Lock()
		name = w.view.dict.roots[link.root]
		w.run.tables.Unlock()
	}
	at.lane = w.lane(trackKey{name + waitingSuffix, rootTrack})
	return at
}
