//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/chunks/folder"
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// CPU samples from before Start are kept in memory. A goroutine moves them out of the rings of the
// threads, which are small, as the keeper does later. When there is no room left, or no Start
// comes, it stops the timers and ends; what was not sampled is counted by its CPU time. Start
// writes the samples into the recording at once, as the program may be killed.

const (
	earlyThreads = 8
	earlyBytes   = 256 << 10
	earlyTick    = 20 * time.Millisecond // so much of a new thread's time is missing at most
	earlyLife    = rt.Time(time.Minute)
)

// early takes samples before Start; nil: nothing does.
var early atomic.Pointer[earlySampler]

type earlySampler struct {
	s          Sampler
	depth      int
	samples    []earlySample
	threads    map[int]bool // that were sampled
	bytes      int
	lost       uint64
	since      int64 // CPU time of the process when the timers were stopped; -1: they run
	quit, done chan struct{}
}

// earlySample is a record, with its thread and track.
type earlySample struct {
	rawformat.StackRecord
	tid   int
	track *registry.Track
}

// OpenEarly begins to take samples before Start: hz in a second of CPU time, with at most depth
// calls of a stack. Their times are of the clock of r, which Start takes over. The error says why
// it can't be done.
func OpenEarly(r *shard.Recording, hz, depth int) error {
	e := &earlySampler{depth: depth, threads: map[int]bool{}, since: -1}
	if err := e.s.Open(Host{Recording: r, Files: folder.NewMemory(), Limit: earlyThreads * ringShare * rawformat.StacksFile}, hz, depth); err != nil {
		return err
	}
	e.goOn()
	early.Store(e)
	return nil
}

// HasEarly reports whether samples are taken before Start, or were.
func HasEarly() bool { return early.Load() != nil }

// goOn begins to take samples.
func (e *earlySampler) goOn() {
	e.s.goDeep(e.depth)
	e.quit, e.done = make(chan struct{}), make(chan struct{})
	if e.since >= 0 {
		close(e.done)
		return
	}
	e.s.scan()
	go e.run()
}

// run samples until hold is called, there is no room left, or nobody wants the samples.
func (e *earlySampler) run() {
	defer close(e.done)
	ticks := time.NewTicker(earlyTick)
	defer ticks.Stop()
	for begun := rt.Now(); e.bytes < earlyBytes && rt.Now()-begun < earlyLife && seized(e.s.signal); {
		select {
		case <-ticks.C:
		case <-e.quit:
			return
		}
		if e.s.changed(rt.Now()) {
			e.s.scan()
			forgetStays()
		}
		for tid, t := range e.s.threads {
			e.take(tid, t)
		}
	}
	e.release()
	e.since = cpuOfProcess()
}

// hold ends sampling; goOn continues it.
func (e *earlySampler) hold() {
	close(e.quit)
	<-e.done
	e.release()
}

// release takes what is left in the rings of all threads, and gives them up.
func (e *earlySampler) release() {
	for tid, t := range e.s.threads {
		delete(e.s.threads, tid)
		if e.s.quiet(t) != nil {
			continue // its ring stays mapped
		}
		e.take(tid, t)
		e.s.free = append(e.s.free, t.slot)
		t.stacks.Close() // it is memory
	}
}

// take takes the records of a thread's ring.
func (e *earlySampler) take(tid int, t *threadState) {
	e.lost += t.stacks.Lost()
	for range maxDrained {
		var rec rawformat.StackRecord
		ok, err := t.stacks.Next(&rec)
		if err != nil {
			e.lost++
		}
		if !ok {
			return
		}
		if sampleClock() == rawformat.ClockMonotonic {
			rec.Time = uint64(e.s.host.Recording.Clock().OfMonotonic(rec.Time))
		}
		rec.Returns = slices.Clone(rec.Returns)
		e.samples = append(e.samples, earlySample{rec, tid, trackOf(e.s.host.Recording.Clock(), &rec)})
		e.threads[tid] = true
		e.bytes += int(unsafe.Sizeof(earlySample{})) + 8*len(rec.Returns)
		t.stacks.Drained()
	}
}

// missed is how many samples were not taken because the timers had been stopped.
func (e *earlySampler) missed() uint64 {
	if e.since < 0 {
		return 0
	}
	return uint64(max(0, cpuOfProcess()-e.since) / e.s.period)
}

func cpuOfProcess() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return math.MaxInt64 // nothing is missed after that
	}
	return t.Nano()
}

// holdEarly has s take over from the early sampler, if there is one.
func (s *Sampler) holdEarly() {
	if e := early.Swap(nil); e != nil {
		s.early = e
		e.hold()
	}
}

// restoreEarly leaves the early sampler to the next Start, because this one failed.
func (s *Sampler) restoreEarly() {
	if e := s.early; e != nil {
		s.early = nil
		e.goOn()
		early.Store(e)
	}
}

// DescribeEarly is the text for meta about samples from before Start.
func (s *Sampler) DescribeEarly() string {
	if s.early == nil {
		return noneEarly
	}
	return fmt.Sprintf("%d CPU samples of %d threads", len(s.early.samples), len(s.early.threads))
}

// HasEarly reports whether there are samples from before Start to write.
func (s *Sampler) HasEarly() bool { return s.early != nil && len(s.early.samples) > 0 }

// DropEarly drops the samples from before Start, because none are wanted, and returns how many
// there were.
func (s *Sampler) DropEarly() (dropped int) {
	s.holdEarly()
	if s.early != nil {
		dropped = len(s.early.samples)
	}
	s.early = nil
	return dropped
}

// WriteEarly writes the samples from before Start into the recording, in the order of their
// times, and returns how many. As long as the dictionary does not have the modules, they have their
// stacks as pcs, without labels.
func (s *Sampler) WriteEarly(mapped bool) (written int) {
	e := s.early
	if s.early = nil; e == nil {
		return 0
	}
	slices.SortStableFunc(e.samples, func(a, b earlySample) int { return cmp.Compare(a.Time, b.Time) })
	for i := range e.samples {
		if s.writeEarly(&e.samples[i], e.s.period, mapped) {
			written++
		}
		if s.host.Ring.Low() {
			s.host.Maintain()
		}
	}
	if lost := e.lost + e.missed(); lost > 0 {
		s.host.Recording.Lose(rawformat.LostSamples, lost, 0)
	}
	if !mapped {
		s.unnamed = e.samples
	}
	return written
}

func (s *Sampler) writeEarly(x *earlySample, period int64, mapped bool) bool {
	if x.track.IsUnwanted() || x.track == nil && !s.wantsRow(&x.StackRecord) {
		return false
	}
	track := uint32(0)
	if x.track != nil {
		track = s.host.Recording.TrackID(x.track)
	}
	stack, pcs := uint64(shard.RawStack), []uint64(nil)
	if mapped {
		stack, pcs = s.intern(&x.StackRecord)
	} else {
		pcs = pcsOf(places(s.key(&x.StackRecord)))
	}
	seen, ok := s.host.Recording.Sample(&shard.Sample{Time: rt.Tick(x.Time), Thread: uint64(x.tid), Goroutine: x.Goroutine, Track: track,
		Stack: stack, PCs: pcs, Period: uint64(period), Periods: x.Periods, CPU: x.CPU}, func(uint64) {})
	if !ok {
		s.host.Recording.Lose(rawformat.LostSamples, 1, 0)
	}
	if isDeep(&x.StackRecord) {
		s.host.Recording.Lose(rawformat.LostDeep, 1, 0)
	}
	return ok && seen.Valid()
}

// nameEarly has the dictionary name the functions of the samples from before Start.
func (s *Sampler) nameEarly() {
	for i := range s.unnamed {
		s.intern(&s.unnamed[i].StackRecord)
	}
	s.unnamed = nil
}
