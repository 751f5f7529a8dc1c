// Package keeper looks after a recording: one goroutine prepares chunks, drains samples,
// writes counters, the heap and waits, begins new dictionaries, and takes part in the
// session.
package keeper

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/sampler"
	"gprof/recorder/internal/shard"
)

// The keeper's intervals.
const (
	round         = 100 * time.Millisecond
	quickRound    = time.Millisecond // while writers take many chunks
	overheadEvery = time.Second
	anchorEvery   = time.Second      // so that clocks drift apart by no more than some ns in between
	learnEvery    = 10 * time.Second // looks for new mappings and threads

	// patience is how long the keeper waits for code of the program, or for a signal
	// handler, to finish.
	patience = 100 * time.Millisecond
)

// Keeper looks after a recording in a goroutine of its own: it prepares chunks, takes
// samples, writes counters and the heap, and takes part in the session.
type Keeper struct {
	config    Config
	rec       *shard.Recording
	chunkSize int   // bytes of a chunk file
	period    int64 // that a CPU sample stands for, in ns of CPU time; 0: no samples
	windows   bool  // CPU samples come from windows of runtime/pprof

	files folder.Folder // of this instance
	limit int64         // bytes that this process may hold
	ring  *ring.Ring

	dict       *dict.Dictionary
	refused    int        // definitions up to here were written or counted as lost; guarded by the registry's lock
	rotating   sync.Mutex // held while ids go from the dictionary into chunks, except by writers and the keeper
	generation uint16     // of the dictionary
	oldDicts   []oldDict  // the dictionaries before it that chunks still name

	member        membership
	counting      counting
	heap          heapMeter
	pages         pageKeeper
	waits         waitMeter
	wall          wallMeter
	sampler       sampler.Sampler
	tracer        tracer
	hook          hook
	triggers      triggers
	counterPeriod rt.Time                 // 0: none
	complained    bool                    // an error of the disk has been logged
	givenUp       uint32                  // chunks given up to others of the session that were logged
	leftCounter   bool                    // the processor's counter has jumped
	resting       bool                    // stopped through the session
	faults        uint32                  // the value of [mapping.Faults] for which replaceCut is done
	sampledBy     atomic.Pointer[string]  // what Stats says about CPU samples
	early         string                  // and meta about those from before Start
	trouble       atomic.Pointer[trouble] // the last one
	spent         spent

	pauseChanged chan struct{}      // tells sampleCPU that recording was paused or resumed
	described    bool               // see describe
	choosing     sync.Once          // see chooseSampling
	chosen       chan struct{}      // closed when that is done
	toLearn      sync.Once          // see startLearning
	learning     atomic.Bool        // learnAgain is at work
	mapped       chan struct{}      // closed when the modules are in the dictionary
	quit         chan struct{}      // closed by End
	drains       chan chan struct{} // see Drain
	goroutines   sync.WaitGroup
	switching    sync.Mutex // one of Pause, Resume and Stop at a time
	pausers      pausers    // guarded by switching
	paused       atomic.Bool
	running      atomic.Bool // between Begin and End
	unsampled    atomic.Bool // PauseSampling was called
	sampling     atomic.Bool // sampleCPU may be writing samples
	stopped      bool
}

// schedule is when the keeper's regular jobs are due next.
type schedule struct{ counters, overhead, anchor, learn rt.Time }

// spent is the recorder's own cost since it was last written, in ns of elapsed time, and how
// many samples it took. (Dropped samples have blocks of their own.) If the keeper had to wait
// for a processor, that is more than the CPU time used, which is the counter "recorder CPU".
type spent struct {
	clean, counters, threads, samples atomic.Int64 // ns, without what was spent on taking shards
	taken                             atomic.Int64
	locked                            int64 // what was spent on that, ever, as it was last written
}

// watch measures a part of the cost.
type watch struct {
	k      *Keeper
	begun  rt.Time
	locked int64
}

func (k *Keeper) watch() watch { return watch{k, rt.Now(), k.rec.Locking()} }

// spent adds the time since the watch was started to a part, without that of taking shards.
func (w watch) spent(on *atomic.Int64) {
	on.Add(max(0, int64(rt.Now()-w.begun)-(w.k.rec.Locking()-w.locked)))
}

// run is the keeper's goroutine; it ends with Stop. It has a thread of its own. As a rule
// it wakes by itself often enough; a writer wakes it when prepared chunks run out and the
// ring may still grow.
func (k *Keeper) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer k.triggers.end()
	var due schedule
	var pace pace
	var room stackRoom
	defer room.hold()
	k.settle()
	for {
		k.maintain()
		k.runDue(&due)
		k.drain()
		k.rec.ReplayLate()
		select {
		case <-k.quit:
			k.finish()
			return
		default:
		}
		k.idle(min(pace.next(k.ring.RangeEnd(), burst/16), k.sampler.LongestSleep()))
	}
}

// settle does what markers need not wait for, which would make the start of a program longer. CPU samples come first,
// because they are missing until then; a burst of markers must not have to wait for more than a part of it.
func (k *Keeper) settle() {
	k.chooseSampling()
	if k.windows {
		k.spawn(k.sampleCPU)
	}
	k.attend()
	k.startLearning()
	k.maintain()
	k.counting.open(k, k.config.CounterHz)
	k.maintain()
	k.describe()
}

// describe has it written down how things are recorded, unless that was done. If the disk is full the keeper tries again.
func (k *Keeper) describe() {
	if !k.described {
		err := k.config.Describe()
		k.described = err == nil
		k.complain("meta", err)
	}
}

// stackRoom keeps the garbage collector from making the keeper's stack smaller while it
// sleeps: that is done if less than a quarter is in use. Without it the stack of a program
// that collects often is made larger again, and copied, in every round, which took half of
// the round's CPU time.
type stackRoom [8 << 10]byte

//go:noinline
func (*stackRoom) hold() {}

// idle sleeps that long, except for rounds over goroutines that are due meanwhile, or until
// somebody wakes the keeper.
func (k *Keeper) idle(d time.Duration) {
	for end := rt.Now() + rt.Time(d); ; k.wall.round(k) {
		left := time.Duration(end - rt.Now())
		nap := k.wall.next(left)
		if k.rec.Nap().Sleep(nap) || nap >= left || k.ring.Low() {
			return
		}
	}
}

// finish writes the last values of the heap and the counters.
func (k *Keeper) finish() {
	k.tellGivenUp()
	if k.paused.Load() {
		return
	}
	if k.isMapped() {
		k.heap.last(k)
		k.wall.rest()
	}
	if k.counterPeriod > 0 {
		k.counting.last(k)
	}
	k.triggers.last(k)
}

// pace decides how long the keeper sleeps. Spare chunks must be there when writers want
// them, so the faster they are taken, the sooner the keeper comes.
type pace struct {
	sleep time.Duration
	end   uint64 // of the ring's range, last time
}

// next is the time until the next round, given the end of the ring's range and how many
// bytes are much for one round.
func (p *pace) next(end, much uint64) time.Duration {
	written := end - p.end
	switch p.end = end; {
	case p.sleep == 0 || written > much:
		p.sleep = max(p.sleep/8, quickRound)
	case written == 0:
		p.sleep = min(2*p.sleep, round)
	}
	return min(p.sleep, round-time.Duration(rt.Now())%round) // so that counters are read at round times
}

// learnModules defines what the process has mapped at the start, in a goroutine beside the
// keeper: hashing a large executable may take a while. Frames wait for it.
func (k *Keeper) learnModules() {
	defer close(k.mapped)
	k.dict.Learn()
}

// startLearning starts learnModules, unless that was done.
func (k *Keeper) startLearning() { k.toLearn.Do(func() { k.spawnBriefly(k.learnModules) }) }

// learnAgain defines what was mapped since, also beside the keeper.
func (k *Keeper) learnAgain() {
	if k.isMapped() && k.learning.CompareAndSwap(false, true) {
		k.spawnBriefly(func() {
			defer k.learning.Store(false)
			k.dict.Learn()
		})
	}
}

// nextAnchor is when the clocks are read next. Anchors are frequent in the beginning,
// because a program that is killed early leaves no later ones.
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

// leaveCounter has everything read the monotonic clock once the processor's counter has
// jumped.
func (k *Keeper) leaveCounter() {
	if k.leftCounter || !k.rec.Clock().Jumped() {
		return
	}
	k.leftCounter = true
	k.sampler.LeaveCounter()
	k.rec.Log(rawformat.LogWarn, "the processor's counter has jumped: times of the last second may be wrong; from now on the monotonic clock is read")
}

// sampleThreads drains what threads have sampled, or stops their timers.
func (k *Keeper) sampleThreads() {
	if k.samples() {
		w := k.watch()
		k.sampler.Round()
		w.spent(&k.spent.samples)
		k.spent.taken.Add(int64(k.sampler.Taken()))
	} else {
		k.sampler.Rest(k.isMapped())
	}
}

// attend has threads sampled before the modules are known.
func (k *Keeper) attend() {
	if k.samples() {
		k.sampler.Attend()
	}
}

// runDue does the regular jobs that are due.
func (k *Keeper) runDue(due *schedule) {
	k.leaveCounter()
	if k.paused.Load() {
		k.waits.last = 0 // it is not known what waited meanwhile
		k.wall.rest()
		k.counting.rest()
		k.sampler.Rest(k.isMapped())
		k.triggers.rest()
		return
	}
	if !k.isMapped() {
		k.attend()
	} else {
		k.rec.InternStacks(k.dict)
		k.rec.NameRoots(k.dict)
		k.sampleThreads()
		k.wall.round(k)
		k.waits.round(k, rt.Now())
	}
	k.pages.round(k)
	now := rt.Now()
	defer k.hook.round(now)
	counted := k.counterPeriod > 0 && now >= due.counters
	if counted {
		// At regular times, without catching up on missed ones.
		due.counters = now - now%k.counterPeriod + k.counterPeriod
		w := k.watch()
		k.counting.round(k, now)
		w.spent(&k.spent.counters)
		k.heap.near.note(k.counting.meter.Rooms(), now)
	}
	if k.isMapped() {
		k.heap.round(k, rt.Now()) // after the counters, which say how near a limit is
	}
	k.triggers.round(k, now, counted)
	if now >= due.anchor {
		due.anchor = k.nextAnchor(now)
		k.rec.WriteAnchor()
	}
	if now >= due.learn {
		due.learn = now + rt.Time(learnEvery)
		k.learnAgain()
		w := k.watch()
		if k.counterPeriod > 0 {
			k.counting.meter.Attend()
		}
		w.spent(&k.spent.threads)
	}
	if now >= due.overhead {
		due.overhead = now + rt.Time(overheadEvery)
		k.dict.Inspect()
		k.describe()
		k.complain("directory", k.lookForDir()) // the last one counts
		k.tellGivenUp()
		k.writeOverhead()
	}
}

func (k *Keeper) writeOverhead() {
	take := func(n *atomic.Int64) uint64 { return uint64(n.Swap(0)) }
	locked := k.rec.Locking()
	lock := uint64(locked - k.spent.locked)
	k.spent.locked = locked
	k.entry(rawformat.KindOverhead, lock, take(&k.spent.clean), take(&k.spent.counters), take(&k.spent.threads)+take(&k.spent.samples), take(&k.spent.taken))
}

// entry writes a block of the recorder's own, with the current time.
func (k *Keeper) entry(kind rawformat.Kind, fields ...uint64) {
	k.rec.Write(shard.Wait, shard.Block{Kind: kind, Time: k.rec.Clock().Now(), Fields: fields})
}
