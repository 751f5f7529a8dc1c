// Package keeper looks after a recording: one goroutine prepares chunks, drains samples, states
// counters, the heap and waits, begins new dictionaries, and takes part in the session.
package keeper

import (
	"fmt"
	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/sampler"
	"gprof/recorder/internal/shard"
)

// How often the keeper does what.
const (
	round         = 100 * time.Millisecond
	quickRound    = time.Millisecond // while writers take chunks
	overheadEvery = time.Second
	anchorEvery   = time.Second      // so that what the clocks drift apart in between is some ns
	learnEvery    = 10 * time.Second // new mappings and threads

	// patience is how long code of the program, or a signal handler, may take to come
	// to its end.
	patience = 100 * time.Millisecond
)

// Keeper looks after a recording in a goroutine of its own: it prepares chunks, takes
// samples, states counters and the heap, and takes part in the session.
type Keeper struct {
	config    Config
	rec       *shard.Recording
	chunkSize int   // bytes of a chunk file
	period    int64 // that a CPU sample stands for, in ns; 0 none
	windows   bool  // CPU samples come from windows of runtime/pprof

	files folder.Folder // of this instance
	limit int64
	ring  *ring.Ring

	dict       *dict.Dictionary
	refused    int        // definitions up to here were written or counted as lost; under the registry's lock
	turning    sync.Mutex // held while ids of the dictionary are on their way into chunks, but by writers and the keeper
	generation uint16     // of the dictionary
	outgrown   []outgrown // dictionaries before it

	member        membership
	counting      counting
	heap          heapMeter
	pages         pageKeeper
	waits         waitMeter
	sampler       sampler.Sampler
	tracer        tracer
	hook          hook
	counterPeriod rt.Time                 // 0: none
	complained    bool                    // of the disk
	slowed        bool                    // the counter has jumped
	resting       bool                    // stopped by the session
	faults        uint32                  // of [mapping.Faults], those that were looked into
	sampledBy     atomic.Pointer[string]  // what Stats says of it
	trouble       atomic.Pointer[trouble] // the last one
	spent         spent

	shift     chan struct{}      // to the CPU sampler: paused or resumed
	learning  atomic.Bool        // again
	mapped    chan struct{}      // closed when the modules are in the dictionary
	quit      chan struct{}      // closed by Stop
	drains    chan chan struct{} // see Drain
	crew      sync.WaitGroup
	switching sync.Mutex // one of Pause, Resume and Stop at a time
	pausers   pausers    // who asks to pause; under switching
	paused    atomic.Bool
	running   atomic.Bool // between Begin and End
	unsampled atomic.Bool // by PauseSampling
	sampling  atomic.Bool // the CPU sampler is at work
	stopped   bool
}

// chores is what the keeper does besides the ring's upkeep, when it is due.
type chores struct{ counters, overhead, anchor, learn rt.Time }

// spent is the recorder's own cost since it was last written, in ns, and how many
// samples it took (what it dropped is told by blocks of their own). It is the time that passed: where the keeper had to wait for
// a processor, it is more than what was used, which is the counter "recorder CPU".
type spent struct {
	clean, counters, threads, samples atomic.Int64 // ns
	taken                             atomic.Int64
}

// keepHouse runs until Stop. It has a thread of its own, and comes by itself often
// enough as a rule; a writer wakes it when the ring may still grow and the chunks
// that were prepared run out.
func (k *Keeper) keepHouse() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var due chores
	var pace pace
	for {
		k.maintain()
		k.work(&due)
		k.drain()
		k.rec.ReplayLate()
		select {
		case <-k.quit:
			k.workLast()
			return
		default:
		}
		k.rec.Nap().Sleep(min(pace.next(k.ring.RangeEnd(), burst/16), k.sampler.LongestSleep()))
	}
}

// workLast states how things are at the end.
func (k *Keeper) workLast() {
	if k.paused.Load() {
		return
	}
	if k.isMapped() {
		k.heap.last(k)
	}
	if k.counterPeriod > 0 {
		k.counting.last(k)
	}
}

// pace is how long the keeper sleeps. Spare chunks must be there when writers
// want them: it comes the sooner the faster they are taken.
type pace struct {
	sleep time.Duration
	end   uint64 // of the ring's range, last time
}

// next is the time until the next round, given the end of the ring's range and
// how many bytes of it are much for one round.
func (p *pace) next(end, much uint64) time.Duration {
	written := end - p.end
	switch p.end = end; {
	case p.sleep == 0 || written > much:
		p.sleep = max(p.sleep/8, quickRound)
	case written == 0:
		p.sleep = min(2*p.sleep, round)
	}
	return min(p.sleep, round-time.Duration(rt.Now())%round) // counters come at even times
}

// learnModules defines what the process has mapped at the start. It is done
// beside the keeper: hashing a large executable may take a while. Frames
// wait for it.
func (k *Keeper) learnModules() {
	defer close(k.mapped)
	k.dict.Learn()
}

// learnAgain defines what was mapped since, also beside the keeper.
func (k *Keeper) learnAgain() {
	if k.isMapped() && k.learning.CompareAndSwap(false, true) {
		k.employ(func() {
			defer k.learning.Store(false)
			k.dict.Learn()
		})
	}
}

// nextAnchor is when the clocks are read next: soon in the beginning, because of a
// program that is killed early there is no later anchor either.
func (k *Keeper) nextAnchor(now rt.Time) rt.Time {
	return now + min(max(now-k.rec.Begun(), rt.Time(quickRound)), rt.Time(anchorEvery))
}

// isMapped reports whether frames can be defined.
func (k *Keeper) isMapped() bool {
	select {
	case <-k.mapped:
		return true
	default:
		return false
	}
}

// maintain prepares and seals chunks, and writes what was lost.
func (k *Keeper) maintain() {
	before := rt.Now()
	k.attend()
	k.replaceCut()
	k.maintainRing()
	k.releaseIdle()
	k.turnDictionary()
	if !k.resting { // else Stop or the next round writes them
		k.rec.WriteLosses()
	}
	k.spent.clean.Add(int64(rt.Now() - before))
}

func (k *Keeper) maintainRing() { k.complain("ring", k.ring.Maintain()) }

// complain logs the first error of the disk's, which is full, say. The ring
// goes on with the chunks that it has.
func (k *Keeper) complain(what string, err error) {
	if err == nil {
		return
	}
	k.trouble.Store(&trouble{fmt.Errorf("%s: %w", what, err), rt.Now()})
	if !k.complained {
		k.complained = true
		k.rec.Log(rawformat.LogWarn, fmt.Sprintf("%s: %v", what, err))
	}
}

// leaveCounter does what is to be done once the counter has jumped.
func (k *Keeper) leaveCounter() {
	if k.slowed || !k.rec.Clock().Jumped() {
		return
	}
	k.slowed = true
	k.sampler.LeaveCounter()
	k.rec.Log(rawformat.LogWarn, "the processor's counter has jumped: times of the last second may be wrong; from now on the monotonic clock is read")
}

// sampleThreads drains what threads have sampled, or stops their timers.
func (k *Keeper) sampleThreads() {
	if k.samples() {
		before := rt.Now()
		k.sampler.Round()
		k.spent.samples.Add(int64(rt.Now() - before))
		k.spent.taken.Add(int64(k.sampler.Taken()))
	} else {
		k.sampler.Rest(k.isMapped())
	}
}

func (k *Keeper) work(due *chores) {
	k.leaveCounter()
	if k.paused.Load() {
		k.waits.last = 0 // nobody knows what waited meanwhile
		k.counting.rest()
		k.sampler.Rest(k.isMapped())
		return
	}
	if k.isMapped() {
		k.rec.InternStacks(k.dict)
		k.sampleThreads()
		k.heap.round(k, rt.Now())
		k.waits.round(k, rt.Now())
	}
	k.pages.round(k)
	now := rt.Now()
	defer k.hook.round(now)
	if k.counterPeriod > 0 && now >= due.counters {
		// Regular, without catching up on what was missed.
		due.counters = now - now%k.counterPeriod + k.counterPeriod
		k.counting.round(k, now)
		k.spent.counters.Add(int64(rt.Now() - now))
	}
	if now >= due.anchor {
		due.anchor = k.nextAnchor(now)
		k.rec.WriteAnchor()
	}
	if now >= due.learn {
		due.learn = now + rt.Time(learnEvery)
		k.learnAgain()
		before := rt.Now()
		if k.counterPeriod > 0 {
			k.counting.meter.Attend()
		}
		k.spent.threads.Add(int64(rt.Now() - before))
	}
	if now >= due.overhead {
		due.overhead = now + rt.Time(overheadEvery)
		k.dict.Inspect()
		k.complain("directory", k.lookForDir())
		k.writeOverhead()
	}
}

// releaseIdle takes chunks away from writers that have been idle while others filled half
// the ring. While the ring rests all chunks are taken.
func (k *Keeper) releaseIdle() {
	most := uint64(k.limit) / 2
	if k.resting {
		most = 0
	}
	k.rec.ReleaseIdle(most)
}

func (k *Keeper) writeOverhead() {
	take := func(n *atomic.Int64) uint64 { return uint64(n.Swap(0)) }
	k.entry(rawformat.KindOverhead, 0, take(&k.spent.clean), take(&k.spent.counters), take(&k.spent.threads)+take(&k.spent.samples), take(&k.spent.taken))
}

// entry writes a block of the recorder's own, as of now.
func (k *Keeper) entry(kind rawformat.Kind, fields ...uint64) {
	k.rec.Write(shard.Wait, shard.Block{Kind: kind, Time: k.rec.Clock().Now(), Fields: fields})
}
