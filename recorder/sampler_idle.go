//go:build linux && (amd64 || arm64) && !gprof_portable

package recorder

import (
	"time"

	"golang.org/x/sys/unix"

	"gprof/rawformat"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/rt"
)

// A thread that does nothing is not interrupted: its CPU clock tells that it did
// nothing. What it did last then holds on, until it is sampled again. Of each such
// stretch the recording has the first moment and the last one at which that was seen.
// The longer it lasts the less often it is looked at.
const (
	firstIdle = rt.Time(round)
	mostIdle  = rt.Time(time.Second)
)

// idleness is what is known of a thread since its last sample.
type idleness struct {
	last  lastSample
	busy  bool    // it was sampled in this round
	cpu   int64   // on its CPU clock when that was read last; 0 not yet
	since rt.Tick // when that had changed
	due   rt.Time // when to read it next
	every rt.Time // how long after that again
	seen  rt.Tick // when it was still idle, and that is not told; 0 none
}

// lastSample is a thread's, or what repeats it, and where it lies.
type lastSample struct {
	at         rt.Tick
	stack      uint64 // the field
	of         sampledThread
	epoch      uint64 // of the chunk; 0: there is none to be repeated
	generation uint16 // of the dictionary
}

// look looks whether a thread, of which there was no sample, has done anything until
// at. A sample that was taken since would have cost it time.
func (s *sampler) look(r *recording, tid int, t *sampled, now rt.Time, at rt.Tick) {
	i := &t.idle
	if i.busy || i.last.epoch == 0 || now < i.due {
		return
	}
	cpu := cpuOfThread(tid)
	if cpu != i.cpu || cpu < 0 {
		s.endIdle(r, t)
		*i = idleness{last: i.last, cpu: cpu, since: at, due: now + firstIdle, every: firstIdle}
		return
	}
	if i.due, i.every = now+i.every, min(2*i.every, mostIdle); i.seen == 0 {
		r.writeIdle(&i.last, i.since)
	}
	i.seen = at
}

// endIdle tells until when a thread was seen idle.
func (s *sampler) endIdle(r *recording, t *sampled) {
	if t.idle.seen != 0 {
		r.writeIdle(&t.idle.last, t.idle.seen)
		t.idle.seen = 0
	}
}

// writeIdle repeats a thread's last sample, with no CPU time. Where that lies in
// another chunk it is stated anew, so that any chunk decodes without others; if its
// stack has no id in that chunk's dictionary it is forgotten.
func (r *recording) writeIdle(last *lastSample, at rt.Tick) {
	w := r.acquireAny()
	if w == nil { // nothing is lost that counts
		return
	}
	of := &last.of
	if !r.turn(w, sampleRoom, who{goroutine: w.goroutine, track: w.track}, at) {
		return
	}
	switch {
	case last.epoch == w.chunk.Epoch():
		after := uint64(max(0, at-last.at)) / rawformat.SampleUnit
		b := rawformat.AppendSint(w.begin(rawformat.KindIdle), int64(of.thread-w.sampled.thread))
		w.finish(rawformat.AppendUint(b, after))
		last.at += rt.Tick(after * rawformat.SampleUnit)
	case last.generation == w.generation && last.stack != rawStack:
		w.finish(w.sample(at, [...]uint64{of.thread, of.goroutine, uint64(of.track), last.stack, 0, 1, 0}))
		last.at, last.epoch = at, w.chunk.Epoch()
	default:
		last.epoch = 0
	}
	leave(w)
}

// rawStack is what a stack field holds for the stack block before it.
const rawStack = 1

// cpuOfThread is a thread's CPU clock in ns, -1 if it has ended.
func cpuOfThread(tid int) int64 {
	var t unix.Timespec
	if unix.ClockGettime(counters.ThreadClock(tid), &t) != nil {
		return -1
	}
	return t.Nano()
}
