package decode

import (
	"math"

	"gprof/stream"
)

// waiting is a sample that is to become a row.
type waiting struct {
	at                stream.Time
	index             uint64
	thread, goroutine uint64
	track, stack      uint64 // of the recording; stack as it stands in the field
	weight, cpu       uint64
	link              stackLink // of the stack
	labels            stream.LabelsID
	same              bool // has the track and the stack of the one before
}

// wait makes room for a sample.
func (w *worker) wait(e *entry) *waiting {
	w.waiting = append(w.waiting, waiting{at: e.at, index: w.index, thread: e.v[1], goroutine: e.v[2], labels: w.labels})
	return &w.waiting[len(w.waiting)-1]
}

// sample takes no notice of the window: the recorder's "cpu window" markers
// show it.
func (w *worker) sample(e *entry) {
	s := w.wait(e)
	s.track, s.stack, s.weight, s.cpu = e.v[3], e.v[4], e.v[5], e.v[6]
	if s.stack == inlineStack {
		s.link = w.inlineLink()
	}
}

func (w *worker) sameSample(e *entry) {
	s := w.wait(e)
	s.weight, s.cpu, s.same = e.v[3], e.v[4], true
}

// addSamples makes rows of the samples that wait: those of some blocks, for
// stacks are far apart in memory. To wait for many of them at a time takes a
// fifth as long as to wait for each.
func (w *worker) addSamples() {
	links := &w.view.dict.links
	for i := range w.waiting {
		if s := &w.waiting[i]; s.stack > inlineStack {
			s.link = links.stack(s.stack - 1)
		}
	}
	for i := range w.waiting {
		if s := &w.waiting[i]; s.same {
			w.addSame(s)
		} else {
			w.addSample(s)
		}
	}
	w.waiting = w.waiting[:0]
}

func (w *worker) addSample(s *waiting) {
	if s.stack > inlineStack && s.link.sid == 0 {
		w.note(stream.ReasonUndefined, "stacks", "")
	}
	l := w.sampleLane(s.thread, s.track, s.link)
	w.last.set(s.thread, s.goroutine, l, s.link.sid)
	w.addTo(l, s, s.link.sid)
}

func (w *worker) addSame(s *waiting) {
	last, ok := w.last.find(s.thread, s.goroutine)
	if !ok {
		w.note(stream.ReasonNoStack, "samples", "")
		return
	}
	w.addTo(last.lane, s, last.stack)
}

func (w *worker) addTo(l *lane, s *waiting, stack stream.StackID) {
	b := w.rows.in(&l.samples, stream.Series{Process: w.job.process.ID, Kind: stream.Samples, Track: l.id}, 0)
	b.Time = append(b.Time, s.at)
	b.Index = append(b.Index, s.index)
	b.Stack = append(b.Stack, stack)
	b.Weight = append(b.Weight, int64(s.weight))
	b.CPU = append(b.CPU, int64(s.cpu)-1)
	b.AppendWho(stream.Who{Thread: known(s.thread), Goroutine: known(s.goroutine), Labels: s.labels})
	w.rows.count++
}

// known is the number of a thread or a goroutine, 0 if it can't be one.
func known(number uint64) int64 {
	if number > math.MaxInt64 {
		return 0
	}
	return int64(number)
}
