//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"time"

	"golang.org/x/sys/unix"

	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// An idle thread gets no signals; its CPU clock shows that it was idle. Its last sample then stays valid
// until the next one. For each such stretch the recording has the first and the last moment at which the
// thread was seen idle. The longer the stretch, the less often the clock is read.
const (
	firstIdle = rt.Time(round)
	mostIdle  = rt.Time(time.Second)
)

// idleness is what is known about a thread since its last sample.
type idleness struct {
	last  shard.LastSample
	busy  bool    // it was sampled in this round
	cpu   int64   // its CPU clock at the last reading; 0: not read yet
	since rt.Tick // when the clock had last changed
	due   rt.Time // when to read it next
	every rt.Time // the time between readings
	seen  rt.Tick // when it was last seen idle, if that is not written yet; 0: none
}

// look checks whether a thread without new samples has done anything until at. Its last
// sample would have cost it CPU time.
func (s *Sampler) look(tid int, t *threadState, now rt.Time, at rt.Tick) {
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

// endIdle writes until when a thread was seen idle.
func (s *Sampler) endIdle(t *threadState) {
	if t.idle.seen != 0 {
		s.host.Recording.Idle(&t.idle.last, t.idle.seen)
		t.idle.seen = 0
	}
}

// cpuOfThread is a thread's CPU clock in ns, -1 if the thread has ended.
func cpuOfThread(tid int) int64 {
	var t unix.Timespec
	if unix.ClockGettime(counters.ThreadClock(tid), &t) != nil {
		return -1
	}
	return t.Nano()
}
