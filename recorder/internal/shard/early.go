package shard

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Markers that are made before Start go into a recorder without files: some shards,
// each with one chunk in memory, and nothing else. Start's recorder has its instance
// and its clock, and writes into its own chunks what they hold, block by block: so
// all is in one index space, with the times at which it was marked.

const (
	earlyShards = 4 // a power of two
	earlyChunk  = 64 << 10
)

// early is the recorder before Start; nil: there is none.
var early atomic.Pointer[Recording]

// OpenEarly has markers kept in memory from now on, unless that is so already.
func OpenEarly(instance uint64) {
	if early.Load() != nil {
		return
	}
	r := &Recording{instance: instance, marked: true, stacked: true}
	r.findTricks()
	r.defined.Store(^uint32(0) - 1) // all that is: ids are the process'
	r.shards = make([]shard, earlyShards)
	r.shared, r.mask = r.shards, earlyShards-1
	for i := range r.shards {
		s := &r.shards[i]
		s.page = noPage
		s.hold(ring.NewChunk(earlyChunk))
	}
	early.Store(r)
	Current.CompareAndSwap(nil, r)
}

// heir is how far a shard of an early recorder has been taken over.
type heir struct {
	from *shard
	at   uint32  // of its payload
	time rt.Tick // the last one
	of   who
	raw  []uint64 // of the stack block that was read last
	head []byte   // scratch
}

// takeOverEarly makes r the heir of the early recorder, if there is one.
func (r *Recording) takeOverEarly() {
	e := early.Swap(nil)
	if e == nil {
		return
	}
	r.early, r.instance = e, e.instance
	r.clock.Follow(&e.clock)
	if !r.marked {
		r.early = nil
		return
	}
	for i := range e.shards {
		r.heirs = append(r.heirs, heir{from: &e.shards[i]})
	}
}

// GiveUp is for a start that fails: what came before is there for the next one.
func (r *Recording) GiveUp() {
	if r.early != nil {
		early.Store(r.early)
	}
}

// Inherit writes what is new in the early recorder's shards, and counts what it
// lost. A marker that found it just before r was there may still be on its way:
// for some time it is looked after.
func (r *Recording) Inherit() {
	if r.early == nil {
		return
	}
	for i := range r.heirs {
		h := &r.heirs[i]
		if h.take() {
			r.replay(h)
			rt.ReleaseLock(&h.from.lock)
		}
	}
	for why := range r.early.lost {
		l := &r.early.lost[why]
		r.Lose(rawformat.LostReason(why), l.count.Swap(0), l.bytes.Swap(0))
	}
}

// disinherit takes what is left in the early recorder's shards, and keeps them
// locked: nothing gets into them any more.
func (r *Recording) disinherit() {
	r.heirs = slices.DeleteFunc(r.heirs, func(h heir) bool {
		taken := h.take()
		if taken {
			r.replay(&h)
		}
		return taken
	})
}

// take takes the shard, if its holder comes to an end.
func (h *heir) take() bool {
	for deadline := rt.Now() + shardPatience; !h.from.try(); runtime.Gosched() {
		if rt.Now() > deadline {
			return false
		}
	}
	return true
}

// replay writes the blocks of a shard that is taken.
func (r *Recording) replay(h *heir) {
	for h.at < h.from.offset() {
		rest := h.from.payload[h.at:h.from.offset()]
		n, size, err := rawformat.ReadUint(rest)
		if err != nil || n == 0 || n > uint64(len(rest)-size) { // a bug of ours, which is none of the program's business
			r.Lose(rawformat.LostTooBig, 1, uint64(len(rest)))
			h.at = h.from.offset()
			return
		}
		end := size + int(n)
		h.at += uint32(end)
		r.replayBlock(h, rawformat.Kind(rest[size]), rest[size+1:end])
	}
}

func (r *Recording) replayBlock(h *heir, k rawformat.Kind, body []byte) {
	c := rawformat.NewCursor(body, 0)
	switch k {
	case rawformat.KindSync:
		c.Uint("index")
		c.Uint("epoch")
		h.time = rt.Tick(c.Uint("time"))
		h.of = who{goroutine: c.Uint("goroutine"), track: uint32(c.Uint("track"))}
	case rawformat.KindContext:
		h.of = who{goroutine: c.Uint("goroutine"), track: uint32(c.Uint("track"))}
	case rawformat.KindStack:
		if h.raw = h.raw[:0]; r.stacked {
			h.raw = c.PCs(h.raw, "pcs")
			r.unnamed = append(r.unnamed, callsOf(h.raw))
		}
	default:
		h.head = h.head[:0]
		if k >= rawformat.KindInstant && k <= rawformat.KindEnd {
			h.head = rawformat.AppendUint(h.head, c.Uint("event"))
			c.Uint("stack")
			h.head = rawformat.AppendUint(h.head, uint64(min(len(h.raw), 1)))
		}
		h.time += rt.Tick(c.Sint("time"))
		r.again(h, k, h.head, body[c.Offset():])
		h.raw = h.raw[:0]
	}
}

// callsOf are the calls that a stack block tells the pcs of.
func callsOf(pcs []uint64) []uintptr {
	calls := make([]uintptr, 0, len(pcs))
	for _, pc := range pcs {
		calls = append(calls, uintptr(pc)+1)
	}
	return calls
}

// again writes a block whose fields are those before its time and those behind it.
func (r *Recording) again(h *heir, k rawformat.Kind, before, behind []byte) {
	s := r.acquirePatiently()
	size := uint32(len(before) + len(behind) + markerRoom + 2*10*len(h.raw))
	if s == nil || !r.turnWithStack(s, size, h.of, h.time, h.raw) {
		return
	}
	s.finish(append(s.time(append(s.begin(k), before...), h.time), behind...))
	leave(s)
}

// InheritLate takes over markers that were on their way when the recorder was
// started. After a second none should be; one that is finds all shards taken, and is
// counted as lost, however long it was away.
func (r *Recording) InheritLate() {
	if r.early == nil {
		return
	}
	if rt.Now()-r.begun > rt.Time(time.Second) {
		r.disinherit()
	}
	r.Inherit()
}
