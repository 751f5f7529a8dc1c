package keeper

import (
	"gprof/chunks/ring"
	"io/fs"
	"time"

	"gprof/recorder/internal/rt"
)

// Ring is the ring of chunks.
func (k *Keeper) Ring() *ring.Ring { return k.ring }

// ChunkSize is how many bytes a chunk file has.
func (k *Keeper) ChunkSize() int { return k.chunkSize }

// Limit is how many bytes the session may hold.
func (k *Keeper) Limit() int64 { return k.config.Limit }

// Mapped is closed when the dictionary knows what the process had mapped at the start.
func (k *Keeper) Mapped() <-chan struct{} { return k.mapped }

// SamplePeriod is what a CPU sample stands for, in ns of CPU time; 0: there are none.
func (k *Keeper) SamplePeriod() int64 { return k.period }

// Sampler says for people how CPU samples are taken, or why they are not.
func (k *Keeper) Sampler() string { return *k.sampledBy.Load() }

// trouble is what went wrong with the disk, and when.
type trouble struct {
	err error
	at  rt.Time
}

// troubling is how long Trouble tells of it. What lasts is met again before.
const troubling = 2 * time.Second

// Trouble is what went wrong in the last two seconds: the disk is full, say.
func (k *Keeper) Trouble() error {
	if t := k.trouble.Load(); t != nil && rt.Now()-t.at < rt.Time(troubling) {
		return t.err
	}
	return nil
}

// lookForDir is nil while the recording's directory is there.
func (k *Keeper) lookForDir() error {
	_, err := fs.Stat(k.files, ".")
	return err
}

// Describe tells for people what came of the ways to record.
func (k *Keeper) Describe(add func(what, text string)) {
	add("session", k.member.describe())
	add("counters", k.counting.meter.Describe())
	add("heap", k.heap.describe())
	add("waits", k.waits.describe())
	add("trace", k.tracer.describe())
}

// HeapRate is how many bytes a heap sample stands for, 0 if none are taken.
func (k *Keeper) HeapRate() int {
	if k.heap.period == 0 {
		return 0
	}
	return max(0, heapRate())
}
