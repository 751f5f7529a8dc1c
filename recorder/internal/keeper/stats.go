package keeper

import (
	"gprof/chunks/ring"
)

// Ring is the ring of chunks.
func (k *Keeper) Ring() *ring.Ring { return k.ring }

// ChunkSize is the size of a chunk file in bytes.
func (k *Keeper) ChunkSize() int { return k.chunkSize }

// Limit is how many bytes the session may hold.
func (k *Keeper) Limit() int64 { return k.config.Limit }

// Mapped is closed when the dictionary has everything that the process had mapped at the
// start.
func (k *Keeper) Mapped() <-chan struct{} { return k.mapped }

// Chosen reports whether it is known how CPU samples are taken. If there may be some from before Start, it is when Open
// returns.
func (k *Keeper) Chosen() bool {
	select {
	case <-k.chosen:
		return true
	default:
		return false
	}
}

// SamplePeriod is how much CPU time a CPU sample stands for, in ns; 0: there are none.
func (k *Keeper) SamplePeriod() int64 { return k.period }

// Sampler describes, for people, how CPU samples are taken, or why they are not. It waits until that is
// known, which is soon after Run; "" after Abandon.
func (k *Keeper) Sampler() string {
	<-k.chosen
	if about := k.sampledBy.Load(); about != nil {
		return *about
	}
	return ""
}

// Describe passes to add, for people, how each thing is recorded.
func (k *Keeper) Describe(add func(what, text string)) {
	add("session", k.member.describe())
	add("counters", k.counting.meter.Describe())
	add("heap", k.heap.describe())
	waits := k.waits.describe()
	if k.waits.hz > 0 && k.wall.hz.Load() > 0 {
		waits = "as the rounds over all goroutines see them, see wall; without these, " + waits
	}
	add("waits", waits)
	add("wall", k.wall.describe())
	add("trace", k.tracer.describe())
	add("triggers", k.triggers.describe())
	if k.rec.HasEarly() {
		add("early", "markers, "+k.early)
	}
}

// HeapRate is how many bytes a heap sample stands for, 0 if none are taken.
func (k *Keeper) HeapRate() int {
	if k.heap.period == 0 {
		return 0
	}
	return max(0, heapRate())
}
