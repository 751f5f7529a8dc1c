package decode

import (
	"math"
	"slices"

	"gprof/rawformat"
	"gprof/stream"
)

// waiting is a sample that is to become a row.
type waiting struct {
	at                stream.Time
	tick              uint64 // the same; of an idle thread, since its last sample
	index             uint64
	thread, goroutine uint64
	track, stack      uint64 // of the recording; stack as it stands in the field
	weight, cpu       uint64
	link              stackLink // of the stack
	labels            stream.LabelsID
	like              likeness
}

// likeness is what a sample has of the one before it of its thread.
type likeness uint8

const (
	likeNone  likeness = iota
	likeStack          // track and stack
	likeAll            // goroutine and labels, too; the time counts from its
)

// sampling is what busy and idle blocks of a page build on.
type sampling struct{ thread, track, period, goroutine uint64 }

// wait makes room for a sample. It is filled where it lies: to copy what was
// written just now, in other pieces, would have to wait until it is in memory.
func (w *worker) wait(e *entry, thread, goroutine uint64) *waiting {
	n := len(w.waiting)
	if n == cap(w.waiting) {
		w.waiting = slices.Grow(w.waiting, 1)
	}
	w.waiting = w.waiting[:n+1]
	s := &w.waiting[n]
	s.at, s.tick, s.index = e.at, w.tick, w.index
	s.thread, s.goroutine, s.labels = thread, goroutine, w.labels
	s.track, s.stack, s.weight, s.cpu = 0, 0, 0, 0
	s.link, s.like = stackLink{}, likeNone
	return s
}

// sample takes no notice of the window: the recorder's "cpu window" markers
// show it.
func (w *worker) sample(e *entry) {
	s := w.wait(e, e.v[1], e.v[2])
	s.track, s.weight, s.cpu = e.v[3], e.v[5], e.v[6]
	w.setStack(s, e.v[4])
}

func (w *worker) setStack(s *waiting, field uint64) {
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

// busy is a sample with what the blocks before it say.
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

func (w *worker) idle(e *entry) {
	s := w.wait(e, w.sampling.thread+uint64(rawformat.Unzigzag(e.v[0])), 0)
	s.tick = e.v[1] * rawformat.SampleUnit
	s.cpu, s.like = 1, likeAll // 0 ns
}

// addSamples makes rows of the samples that wait: those of some blocks, for
// stacks are far apart in memory. To wait for many of them at a time takes a
// fifth as long as to wait for each.
func (w *worker) addSamples() {
	dict := w.view.dict
	for i := range w.waiting {
		if s := &w.waiting[i]; s.stack > inlineStack {
			s.link = dict.stack(s.stack - 1)
		}
	}
	for i := range w.waiting {
		if s := &w.waiting[i]; s.like == likeNone {
			w.addSample(s)
		} else {
			w.addLike(s)
		}
	}
	w.waiting = w.waiting[:0]
}

func (w *worker) addSample(s *waiting) {
	if s.stack > inlineStack && s.link.sid == 0 {
		w.note(stream.ReasonUndefined, "stacks", "")
	}
	l := w.sampleLane(s.thread, s.track, s.link)
	last := w.last.of(whoOf(s.thread, s.goroutine))
	last.goroutine, last.labels, last.lane, last.stack, last.tick = s.goroutine, s.labels, l, s.link.sid, s.tick
	w.addTo(l, s, s.link.sid)
}

// addLike adds a sample that is like the last one of its thread.
func (w *worker) addLike(s *waiting) {
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

func (w *worker) addTo(l *lane, s *waiting, stack stream.StackID) {
	b := w.rows.current(&l.samples)
	if b == nil {
		b = w.rows.in(&l.samples, stream.Series{Process: w.job.process.ID, Kind: stream.Samples, Track: l.id}, 0)
	}
	b.Time = append(b.Time, s.at)
	b.Index = append(b.Index, s.index)
	b.Stack = append(b.Stack, stack)
	b.Weight = append(b.Weight, known(s.weight))
	b.CPU = append(b.CPU, known(s.cpu)-1)
	b.AppendWho(stream.Who{Thread: known(s.thread), Goroutine: known(s.goroutine), Labels: s.labels})
	w.rows.count++
}

// known is a number of the recording, 0 if it can't be one.
func known(number uint64) int64 {
	if number > math.MaxInt64 {
		return 0
	}
	return int64(number)
}
