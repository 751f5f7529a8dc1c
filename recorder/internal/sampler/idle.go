//go:build linux && (amd64 || arm64) && !gprof_portable

package sampler

import (
	"time"

	"golang.org/x/sys/unix"

	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
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
	last  shard.LastSample
	busy  bool    // it was sampled in this round
	cpu   int64   // on its CPU clock when that was read last; 0 not yet
	since rt.Tick // when that had changed
	due   rt.Time // when to read it next
	every rt.Time // how long after that again
	seen  rt.Tick // when it was still idle, and that is not told; 0 none
}

// look looks whether a thread, of which there was no sample, has done anything until
// at. A sample that was taken since would have cost it time.
func (s *Sampler) look(tid int, t *sampled, now rt.Time, at rt.Tick) {
	i := &t.idle
	if i.busy || !i.last.Valid() || now < i.due {
		return
	}
	cpu := cpuOfThread(tid)
	if cpu != i.cpu || cpu < 0 {
		s.endIdle(t)
		*i = idleness{last: i.last, cpu: cpu, since: at, due: now + firstIdle, every: firstIdle}
		return
	}
	if i.due, i.every = now+i.every, min(2*i.every, mostIdle); i.seen == 0 {
		s.host.Recording.Idle(&i.last, i.since)
	}
	i.seen = at
}

// endIdle tells until when a thread was seen idle.
func (s *Sampler) endIdle(t *sampled) {
	if t.idle.seen != 0 {
		s.host.Recording.Idle(&t.idle.last, t.idle.seen)
		t.idle.seen = 0
	}
}

// cpuOfThread is a thread's CPU clock in ns, -1 if it has ended.
func cpuOfThread(tid int) int64 {
	var t unix.Timespec
	if unix.ClockGettime(counters.ThreadClock(tid), &t) != nil {
		return -1
	}
	return t.Nano()
}
