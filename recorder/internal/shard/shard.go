package shard

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// shard is one writer: at most one chunk, and what the blocks in it build on.
// Whoever has its lock has all of it but lag. A shared shard's lock is exchanged
// from 0 to 1 by whoever wants it. That of a processor's own is stored by who runs
// there, see enter.
type shard struct {
	lock  uint32  // 1: taken; of a shared shard after Stop for good
	shut  uint32  // 1: writers go elsewhere, for the keeper has the shard, or is about to
	track uint32  // of the context, as goroutine and labels
	owned bool    // by a processor
	word  uint64  // the commit word: offset, and number of blocks
	soft  uint32  // up to here a block of the fast path may begin without further ado
	page  uint32  // in which a block began last, noPage
	last  rt.Tick // of the last T
	base  unsafe.Pointer

	goroutine uint64

	commit  *uint64 // the chunk's
	payload []byte
	chunk   *ring.Chunk // nil: none
	labels  uint32
	writer  uint16

	generation uint16 // of the dictionary that chunks are opened with

	lag atomic.Uint64 // range start of chunk, 0 without; for the keeper

	sampled sampledThread // of the page

	_ [136]byte // two lines: the processor fetches pairs of them
}

// sampledThread is what busy blocks say, and build on.
type sampledThread struct {
	thread, period, goroutine uint64
	track                     uint32
}

const (
	noPage    = ^uint32(0)
	pageShift = 12 // of rawformat.PageSize

	// maxTurn is the room for what turn may write: one context block of at most
	// 20 bytes, two labels blocks of at most 8, and two sync blocks of at most 50.
	maxTurn = 136

	// maxPasses is how often all shards are tried before a marker is dropped.
	// A shard is taken for some ten nanoseconds, unless its holder lost its
	// thread.
	maxPasses = 8
)

// who is whose a block is: the context that blocks after it share.
type who struct {
	goroutine uint64 // 0 unknown
	track     uint32 // 0: that of the process
	labels    uint32 // id of the set, 0 none
}

// enter gives the caller a shard until leave, which must follow soon and without
// blocking. nil: all are taken; the loss is counted.
//
// On a processor one goroutine runs at a time. Who is not interrupted between its look
// at the lock of the processor's shard and its store there has the shard for itself, at
// the cost of that store: an exchange would cost as much as all else but the clock. It
// may be interrupted afterwards; others find the lock taken, and go to a shared shard.
// The keeper, who wants a shard now and then, says so in shut, and has all threads
// see that before it looks whether the lock is taken, see claim.
func (r *Recording) enter() *shard {
	if s, _, _ := takeOwn(r); s != nil {
		taken(s)
		return s
	}
	return r.enterElse()
}

// enterElse is enter where takeOwn took nothing.
//
//go:noinline
func (r *Recording) enterElse() *shard {
	if r.unrouted != nil && len(r.own) > 0 {
		p := rt.Pin()
		s := r.takeOwnOf(uint(p))
		rt.Unpin()
		if s != nil {
			return s
		}
	}
	return r.enterShared()
}

// takeOwnOf is takeOwn on that processor, to which the caller is pinned. nil: the
// shard is taken or shut, or the program has more processors now than it began with.
func (r *Recording) takeOwnOf(p uint) *shard {
	if p >= uint(len(r.own)) {
		return nil
	}
	s := &r.own[p]
	if atomic.LoadUint32(&s.lock) != 0 {
		return nil
	}
	rt.TakeLock(&s.lock)
	if atomic.LoadUint32(&s.shut) != 0 {
		rt.ReleaseLock(&s.lock)
		return nil
	}
	return s
}

// enterShared is enter of a shared shard.
func (r *Recording) enterShared() *shard {
	var here byte
	return r.acquire(shardHint(&here))
}

// leave gives a shard back.
func leave(s *shard) { rt.ReleaseLock(&s.lock) }

// acquire locks a shared shard. nil: all are taken; the loss is counted.
func (r *Recording) acquire(hint uintptr) *shard {
	if s := &r.shared[hint&r.mask]; s.try() {
		return s
	}
	return r.acquireOther(hint)
}

// try locks a shared shard, unless it is taken or shut.
func (s *shard) try() bool {
	if atomic.SwapUint32(&s.lock, 1) != 0 {
		return false
	}
	if atomic.LoadUint32(&s.shut) != 0 {
		rt.ReleaseLock(&s.lock)
		return false
	}
	return true
}

// acquireOther locks any shared shard after the first choice was taken. It begins
// with those that are nobody's first choice.
//
//go:noinline
func (r *Recording) acquireOther(hint uintptr) *shard {
	all := uintptr(len(r.shared)) - 1
	for i := range maxPasses * (all + 1) {
		if s := &r.shared[(hint&r.mask+r.mask+1+i)&all]; s.try() {
			return s
		}
	}
	r.Lose(rawformat.LostBusy, 1, 0)
	return nil
}

// claim takes a shard for the keeper; false: it is taken. disclaim gives it
// back.
func (r *Recording) claim(s *shard) bool {
	if !s.owned {
		return atomic.SwapUint32(&s.lock, 1) == 0
	}
	if r.seize(s) {
		return true
	}
	atomic.StoreUint32(&s.shut, 0)
	return false
}

// seize is claim of a shard that is shut from now on, also when it is taken: its
// holder writes one block, and nobody comes after. So it is not in vain for long
// where a writer is always at work. disclaim opens it again.
//
// Of the writer of a processor's shard and us each stores one word and then loads the
// other's, and one of us must see that the other is there. An exchange orders
// that for the writer, at a cost; the barrier does it for all of them:
//
//   - A writer that stored its lock before the barrier is seen to have it. It ends
//     its block, and whoever seized in vain comes again.
//   - One that stores it afterwards loads shut afterwards, too, sees it, and goes
//     elsewhere before it has touched the chunk.
//   - So who has seized finds the last block committed: its writer released the lock
//     after the commit, and both are loaded in this order. The chunk can be sealed,
//     handed over or unmapped.
//
// The same goroutine may be both, as Stop's is: it holds no shard then. A processor
// that is taken away from a goroutine, or from the program, is no case of its own:
// who has taken the lock keeps it until it goes on, wherever that is.
func (r *Recording) seize(s *shard) bool {
	atomic.StoreUint32(&s.shut, 1)
	if !s.owned {
		return atomic.SwapUint32(&s.lock, 1) == 0
	}
	return rt.Barrier() == nil && atomic.LoadUint32(&s.lock) == 0
}

func disclaim(s *shard) {
	atomic.StoreUint32(&s.shut, 0)
	if !s.owned {
		rt.ReleaseLock(&s.lock)
	}
}

// acquirePatiently is acquire for the recorder's own goroutines, which may
// wait.
func (r *Recording) acquirePatiently() *shard {
	s := r.acquireAny()
	if s == nil {
		r.Lose(rawformat.LostBusy, 1, 0)
	}
	return s
}

// acquireAny locks any shared shard, the last choice of markers first. nil: all
// stay taken, for about shardPatience.
func (r *Recording) acquireAny() *shard {
	for deadline := rt.Now() + shardPatience; ; runtime.Gosched() {
		for i := len(r.shared) - 1; i >= 0; i-- {
			if s := &r.shared[i]; s.try() {
				return s
			}
		}
		if rt.Now() > deadline {
			return nil
		}
	}
}

// shardPatience is how long our own goroutines wait for a shard. Its holder writes
// one block, but may have lost its thread to somebody else.
const shardPatience = rt.Time(10 * time.Millisecond)

// turn makes s ready, see prepare. If there is no chunk it counts the loss,
// leaves s and returns false.
func (r *Recording) turn(s *shard, size uint32, of who, now rt.Tick) bool {
	if r.prepare(s, size, of, now) {
		return true
	}
	r.Lose(rawformat.LostNoChunk, 1, uint64(size))
	leave(s)
	return false
}

// prepare makes s ready for blocks of size bytes in all that are of somebody:
// it takes another chunk if there is no room, and restates the context where
// the format demands it. False: there is no chunk.
func (r *Recording) prepare(s *shard, size uint32, of who, now rt.Tick) bool {
	if s.offset()+size+maxTurn+overshoot > uint32(len(s.payload)) && !r.refill(s) {
		return false
	}
	if s.who() != of {
		s.context(of)
	}
	for !s.samePage() {
		// A sync block that begins late in a page may end in the next one.
		s.sync(of, now)
		s.setLabels(of.labels)
	}
	s.soft = min((s.page+1)<<pageShift, uint32(len(s.payload))-fastBlock-overshoot)
	if of.labels != 0 {
		s.soft = 0 // so that the next one looks at its context
	}
	return true
}

// refill gives s a fresh chunk. Who takes one from the ring is not interrupted,
// because others wait for it by spinning; but for where faults are not caught, which
// would be fatal then.
func (r *Recording) refill(s *shard) bool {
	if r.ring == nil { // it is an early one
		return false
	}
	if r.exposed != nil {
		return r.exchange(s)
	}
	rt.Pin()
	filled := r.exchange(s)
	rt.Unpin()
	return filled
}

// exchange is refill.
func (r *Recording) exchange(s *shard) bool {
	r.retire(s)
	c := r.ring.Get(s.writer, s.generation)
	if r.ring.Low() {
		r.nap.Wake()
	}
	if c == nil {
		if !r.starving.Swap(true) {
			r.nap.Wake()
		}
		return false
	}
	s.hold(c)
	return true
}

// hold has s write into a chunk that is new.
func (s *shard) hold(c *ring.Chunk) {
	s.chunk, s.payload, s.commit = c, c.Payload(), c.CommitWord()
	s.base = unsafe.Pointer(unsafe.SliceData(s.payload))
	s.lag.Store(c.RangeStart())
}

// retire releases the chunk of s, if it has one.
func (r *Recording) retire(s *shard) {
	if s.chunk != nil {
		rt.Release(s.commit, s.word) // somebody else may have written to the file
		r.ring.Release(s.chunk)
	}
	s.chunk, s.payload, s.commit, s.base = nil, nil, nil, nil
	s.word, s.soft, s.page, s.track, s.goroutine, s.labels = 0, 0, noPage, 0, 0, 0
	s.lag.Store(0)
}

func (s *shard) offset() uint32 { return uint32(s.word) }

func (s *shard) who() who { return who{s.goroutine, s.track, s.labels} }

// sync begins a page.
func (s *shard) sync(of who, now rt.Tick) {
	b := s.begin(rawformat.KindSync)
	b = rawformat.AppendUint(b, s.chunk.RangeStart()+uint64(s.offset()))
	b = rawformat.AppendUint(b, s.chunk.Epoch())
	b = rawformat.AppendUint(b, uint64(now))
	b = rawformat.AppendUint(b, of.goroutine)
	b = rawformat.AppendUint(b, uint64(of.track))
	s.track, s.goroutine, s.labels, s.last, s.page = of.track, of.goroutine, 0, now, s.offset()>>pageShift
	s.sampled = sampledThread{}
	s.finish(b)
}

// context restates the context, but for what a new page does anyway.
func (s *shard) context(of who) {
	if s.samePage() && (s.goroutine != of.goroutine || s.track != of.track) {
		s.setContext(of)
	}
	s.setLabels(of.labels)
}

func (s *shard) samePage() bool { return s.page == s.offset()>>pageShift }

// setLabels writes a labels block, unless a page begins here.
func (s *shard) setLabels(id uint32) {
	if s.labels != id && s.samePage() {
		s.labels = id
		s.finish(rawformat.AppendUint(s.begin(rawformat.KindLabels), uint64(id)))
	}
}

func (s *shard) setContext(of who) {
	b := s.begin(rawformat.KindContext)
	b = rawformat.AppendUint(b, of.goroutine)
	b = rawformat.AppendUint(b, uint64(of.track))
	b = rawformat.AppendUint(b, 0)
	s.track, s.goroutine = of.track, of.goroutine
	s.finish(b)
}

// begin returns the place of a block: fields are appended to it, which stays
// within the payload because turn was told their size; then it is finished.
func (s *shard) begin(k rawformat.Kind) []byte {
	return append(s.payload[s.offset():s.offset()+1], byte(k))
}

// time appends a T.
func (s *shard) time(b []byte, now rt.Tick) []byte {
	delta := int64(now - s.last)
	s.last = now
	return rawformat.AppendSint(b, delta)
}

// finish commits the block. Its length takes a byte as a rule, and two of a long one,
// which moves.
func (s *shard) finish(b []byte) {
	length := len(b) - 1
	if length < 0x80 {
		b[0] = byte(length)
	} else {
		b = append(b, 0)
		copy(b[2:], b[1:])
		b[0], b[1] = byte(length)|0x80, byte(length>>7)
	}
	s.word += uint64(len(b)) | 1<<32
	rt.Release(s.commit, s.word)
}
