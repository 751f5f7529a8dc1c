package perf

import (
	"cmp"
	"slices"

	"gprof/rawformat/perfevent"
	"gprof/stream"
)

// switches pairs when threads leave the CPU and come back. A thread may come back on another CPU,
// whose records may come earlier, so events wait until perf says that no earlier ones can come.
type switches struct {
	waiting  []switchEvent
	latest   uint64 // time of any waiting event
	settled  uint64 // latest at the end of the last round
	threads  map[thread]*offCPU
	unpaired int64
}

// switchEvent is a thread that leaves the CPU, returns, or tells where it leaves.
type switchEvent struct {
	time      uint64
	who       thread
	what      switchKind
	preempted bool
	stack     stream.StackID
}

type switchKind uint8

const (
	leaves switchKind = iota
	returns
	tellsStack
)

// offCPU is the state of a thread.
type offCPU struct {
	stack     stream.StackID // where it leaves
	since     uint64         // 0: it runs
	preempted bool
	track     stream.TrackID
}

// maxWaiting bounds the waiting events, because rounds may not end.
const maxWaiting = 1 << 18

func (w *switches) add(s *source, t switchEvent) {
	w.waiting = append(w.waiting, t)
	w.latest = max(w.latest, t.time)
	if len(w.waiting) == maxWaiting {
		w.flush(s, w.latest)
	}
}

func (w *switches) stack(s *source, who thread, time uint64, stack stream.StackID) {
	w.add(s, switchEvent{time: time, who: who, what: tellsStack, stack: stack})
}

// takeSwitch takes a switch record.
func (s *source) takeSwitch(rec *record) {
	_, t := s.file.attrs[0].SplitTrailer(rec.body)
	p := s.file.life.at(t.Pid, t.Time)
	if s.ids[p] == 0 || t.Tid <= 0 {
		return // not asked for, or the idle thread, or one that has ended
	}
	what := returns
	if rec.misc&perfevent.MiscSwitchOut != 0 {
		what = leaves
	}
	s.switches.add(s, switchEvent{time: t.Time, who: thread{p, t.Tid}, what: what, preempted: rec.misc&perfevent.MiscPreempted != 0})
}

// round is called when perf has drained all CPUs: what was there a round before is complete.
func (w *switches) round(s *source) {
	w.flush(s, w.settled)
	w.settled = w.latest
}

// flush pairs what is not later than a time.
func (w *switches) flush(s *source, until uint64) {
	slices.SortStableFunc(w.waiting, func(a, b switchEvent) int { return cmp.Compare(a.time, b.time) })
	n := 0
	for n < len(w.waiting) && w.waiting[n].time <= until {
		w.pair(s, &w.waiting[n])
		n++
	}
	w.waiting = append(w.waiting[:0], w.waiting[n:]...)
}

func (w *switches) pair(s *source, t *switchEvent) {
	o := w.threads[t.who]
	if o == nil {
		o = &offCPU{}
		w.threads[t.who] = o
	}
	switch t.what {
	case tellsStack:
		o.stack = t.stack
	case leaves:
		if o.since != 0 {
			w.unpaired++
		}
		o.since, o.preempted = t.time, t.preempted
	case returns:
		if o.since == 0 {
			w.unpaired++ // it left before the recording
		} else {
			s.wait(t.who, o, t.time)
		}
		o.since, o.stack = 0, 0
	}
}

// waitCategory is the category of being off the CPU.
var waitCategory = stream.Category{Name: "Idle", Color: "transparent"}

// finish pairs the rest, and lets open waits last to the end of the recording.
func (w *switches) finish(s *source) {
	w.flush(s, 1<<64-1)
	var open []thread
	for who, o := range w.threads {
		if o.since != 0 && o.since < s.file.life.last && !who.process.ended { // who has ended has left for good
			open = append(open, who)
		}
	}
	slices.SortFunc(open, func(a, b thread) int {
		return cmp.Or(cmp.Compare(a.process.born, b.process.born), cmp.Compare(a.process.pid, b.process.pid), cmp.Compare(a.tid, b.tid))
	})
	for _, who := range open {
		s.wait(who, w.threads[who], s.file.life.last)
	}
}

// wait makes a row of the time that a thread was off the CPU.
func (s *source) wait(who thread, o *offCPU, until uint64) {
	why := "waiting: off CPU"
	if o.preempted {
		why = "waiting: preempted"
	}
	if o.track == 0 {
		o.track = s.intern(who, s.threadName(who)+" (waiting)")
	}
	series := stream.Series{Process: s.ids[who.process], Track: o.track, Kind: stream.Waits}
	b := s.rows.Row(series, 0, s.file.facts.moment(until)+s.shift)
	b.Stack = append(b.Stack, s.code.withLabel(o.stack, why, waitCategory))
	b.Value, b.Number = append(b.Value, int64(min(until, maxMoment)-min(o.since, maxMoment))), append(b.Number, 1)
}
