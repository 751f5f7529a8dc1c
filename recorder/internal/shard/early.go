package shard

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// Markers made before Start go into an early recording without files: some shards, each
// with one chunk in memory, and nothing else. The recording that Start opens takes over its
// instance and its clock, and copies its blocks into chunks of its own. So all blocks are
// in one index space, with the times at which they were made.

const (
	numEarlyShards = 4 // a power of two
	earlyChunk     = 64 << 10
)

// early is the recording before Start; nil: there is none.
var early atomic.Pointer[Recording]

// OpenEarly has markers kept in memory from now on, and returns the recording before Start; nil: they already were.
func OpenEarly(instance uint64) *Recording {
	if early.Load() != nil {
		return nil
	}
	r := &Recording{instance: instance, wantsMarkers: true, wantsStacks: true}
	r.clock.Open()
	r.begun = rt.Now()
	r.probe()
	r.defined.Store(^uint32(0) - 1) // everything counts as defined: ids are those of the process
	r.shards = make([]shard, numEarlyShards)
	r.shared, r.mask = r.shards, numEarlyShards-1
	for i := range r.shards {
		s := &r.shards[i]
		s.page = noPage
		s.setChunk(ring.NewChunk(earlyChunk))
	}
	early.Store(r)
	Current.CompareAndSwap(nil, r)
	return r
}

// earlyShard is how far a shard of the early recording has been copied.
type earlyShard struct {
	from *shard
	at   uint32  // offset in its payload
	time rt.Tick // of the last block
	of   uint64  // goroutine
	row  row
	raw  []uint64 // of the last stack block
	head []byte   // scratch
}

// adoptEarly has r take over from the early recording, if there is one.
func (r *Recording) adoptEarly() {
	e := early.Swap(nil)
	if e == nil {
		return
	}
	r.early, r.instance = e, e.instance
	r.clock.Follow(&e.clock)
	r.trial = nil
	if !r.wantsMarkers {
		r.early = nil
		return
	}
	for i := range e.shards {
		r.earlyShards = append(r.earlyShards, earlyShard{from: &e.shards[i]})
	}
}

// HasEarly reports whether r took over from an early recording.
func (r *Recording) HasEarly() bool { return r.early != nil }

// RestoreEarly leaves the early recording to the next Start, because this one failed.
func (r *Recording) RestoreEarly() {
	if r.early != nil {
		early.Store(r.early)
	}
}

// ReplayEarly copies what is new in the early recording's shards, and counts what that
// lost. A marker that loaded Current just before r was there may still be on its way, so
// ReplayEarly is called for some time.
func (r *Recording) ReplayEarly() {
	if r.early == nil {
		return
	}
	for i := range r.earlyShards {
		h := &r.earlyShards[i]
		if h.lock() {
			r.replay(h)
			rt.ReleaseLock(&h.from.lock)
		}
	}
	for why := range r.early.lost {
		l := &r.early.lost[why]
		r.Lose(rawformat.LostReason(why), l.count.Swap(0), l.bytes.Swap(0))
	}
}

// closeEarly copies what is left in the early recording's shards, and keeps them locked, so
// that nothing more gets into them.
func (r *Recording) closeEarly() {
	r.earlyShards = slices.DeleteFunc(r.earlyShards, func(h earlyShard) bool {
		taken := h.lock()
		if taken {
			r.replay(&h)
		}
		return taken
	})
}

// lock locks the shard, if its holder finishes in time.
func (h *earlyShard) lock() bool {
	for deadline := rt.Now() + shardPatience; !h.from.tryLock(); runtime.Gosched() {
		if rt.Now() > deadline {
			return false
		}
	}
	return true
}

// replay copies the blocks of a locked shard.
func (r *Recording) replay(h *earlyShard) {
	for h.at < h.from.offset() {
		rest := h.from.payload[h.at:h.from.offset()]
		n, size, err := rawformat.ReadUint(rest)
		if err != nil || n == 0 || n > uint64(len(rest)-size) { // a bug of ours, which must not harm the program
			r.Lose(rawformat.LostTooBig, 1, uint64(len(rest)))
			h.at = h.from.offset()
			return
		}
		end := size + int(n)
		h.at += uint32(end)
		r.replayBlock(h, rawformat.Kind(rest[size]), rest[size+1:end])
	}
}

func (r *Recording) replayBlock(h *earlyShard, k rawformat.Kind, body []byte) {
	c := rawformat.NewCursor(body, 0)
	switch k {
	case rawformat.KindSync:
		c.Uint("index")
		c.Uint("epoch")
		h.time = rt.Tick(c.Uint("time"))
		h.of, h.row = c.Uint("goroutine"), row{track: uint32(c.Uint("track"))}
	case rawformat.KindContext:
		h.of, h.row = c.Uint("goroutine"), row{track: uint32(c.Uint("track"))}
	case rawformat.KindBegan:
		h.row.start = c.Uint("start")
	case rawformat.KindStack:
		if h.raw = h.raw[:0]; r.wantsStacks {
			h.raw = c.PCs(h.raw, "pcs")
			r.earlyStacks = append(r.earlyStacks, callsOf(h.raw))
		}
	default:
		h.head = h.head[:0]
		if k >= rawformat.KindInstant && k <= rawformat.KindEnd || k == rawformat.KindPlaced {
			h.head = rawformat.AppendUint(h.head, c.Uint("event"))
			c.Uint("stack")
			h.head = rawformat.AppendUint(h.head, uint64(min(len(h.raw), 1)))
		}
		h.time += rt.Tick(c.Sint("time"))
		r.rewrite(h, k, h.head, body[c.Offset():])
		h.raw = h.raw[:0]
	}
}

// callsOf turns the pcs of a stack block back into return addresses.
func callsOf(pcs []uint64) []uintptr {
	calls := make([]uintptr, 0, len(pcs))
	for _, pc := range pcs {
		calls = append(calls, uintptr(pc)+1)
	}
	return calls
}

// rewrite writes a block whose fields are those before its time and those behind it.
func (r *Recording) rewrite(h *earlyShard, k rawformat.Kind, before, behind []byte) {
	s := r.awaitShardOrLose()
	size := uint32(len(before) + len(behind) + markerRoom + 2*10*len(h.raw))
	if s == nil {
		return
	}
	s.goroutine, s.told = forgotten, h.row
	if s = r.readyForStack(s, size, context{goroutine: h.of, track: registry.ProcessID}, h.time, h.raw); s == nil {
		return
	}
	s.finish(append(s.time(append(s.begin(k), before...), h.time), behind...))
	s.goroutine, s.told = forgotten, row{} // its row may be another one by now
	leave(s)
}

// ReplayLate copies markers that were on their way when the recording was started. After a
// second there should be none left: the shards are locked for good, and a marker that comes
// even later is counted as lost.
func (r *Recording) ReplayLate() {
	if r.early == nil {
		return
	}
	if rt.Now()-r.begun > rt.Time(time.Second) {
		r.closeEarly()
	}
	r.ReplayEarly()
}
