package shard

import (
	"sync/atomic"
	"time"
	"unsafe"

	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// shard is one writer: it has at most one chunk, and the state that the next block in that
// chunk builds on. The lock guards everything but chunkStart. A shared shard is locked by
// an exchange from 0 to 1. The lock of a processor's own shard is a plain store by the
// goroutine that runs there, see enter.
type shard struct {
	lock  uint32  // 1: taken; shared shards stay taken after Stop
	shut  uint32  // 1: the keeper has the shard or wants it, so writers go elsewhere
	track uint32  // of the current context, as are goroutine, labels and row
	owned bool    // it belongs to a processor
	word  uint64  // the commit word: offset and number of blocks
	soft  uint32  // below this offset the fast path may begin a block without prepare
	page  uint32  // where the last block began, or noPage
	last  rt.Tick // of the last block
	base  unsafe.Pointer

	goroutine uint64

	commit  *uint64 // the chunk's
	payload []byte
	chunk   *ring.Chunk // nil: none
	labels  uint32
	writer  uint16

	generation uint16 // of the dictionary that the chunk names

	row   row
	told  row    // of the next context, if it is known already
	start uint64 // as the last began block says; 0: there is none since the context block

	chunkStart atomic.Uint64 // range start of chunk, 0 if there is none; the keeper reads it

	sampled sampledThread // in this page

	_ [128]byte // two cache lines, because processors fetch pairs
}

// sampledThread is the state that busy blocks are encoded against.
type sampledThread struct {
	thread, period, goroutine uint64
	track                     uint32
}

const (
	noPage    = ^uint32(0)
	pageShift = 12 // of rawformat.PageSize

	// maxContext bounds what prepare may write: one context block of at most 20 bytes, two
	// labels blocks of at most 8, two sync blocks of at most 50, and three began blocks of at
	// most 12.
	maxContext = 172

	// maxPasses is how often all shards are tried before a marker is dropped. A shard is
	// taken for some ten nanoseconds, unless its holder lost its thread.
	maxPasses = 8

	// MaxChoices bounds the shared shards that are a first choice; if there are more
	// processors they share these.
	MaxChoices = 64
)

// context says whose the following blocks are.
type context struct {
	goroutine uint64 // 0: unknown
	track     uint32 // at which the marker is aimed; 0: at none, so it stands where its goroutine does
	labels    uint32 // id of the set, 0: none
}

// anyContext is for blocks that state all themselves.
var anyContext = context{goroutine: anyone}

// shardPatience is how long the recorder's own goroutines wait for a shard. Its holder
// writes only one block, but may have lost its thread.
const shardPatience = rt.Time(10 * time.Millisecond)

// ready prepares s, or a shared shard in its place if s can't have a chunk now: all may be in
// use, or a writer lost its processor while it took one. It returns the one that is ready.
// nil: no shard has room, and the loss is counted, or the goroutine is left out; s is given
// back.
func (r *Recording) ready(s *shard, size uint32, of context, now rt.Tick) *shard {
	if r.prepare(s, size, of, now) {
		return s
	}
	if s.goroutine != left {
		if s = r.elsewhere(s, size); s == nil {
			return nil
		}
		if r.prepare(s, size, of, now) {
			return s
		}
	}
	leave(s)
	return nil
}

// elsewhere gives back s, which has no chunk, and locks a shared shard that has room and
// names the same dictionary. nil: there is none; the loss is counted.
//
//go:noinline
func (r *Recording) elsewhere(s *shard, size uint32) *shard {
	generation := s.generation
	leave(s)
	for i := range r.shared {
		o := &r.shared[i]
		if o.chunkStart.Load() == 0 && r.ring != nil || !o.tryLock() { // in an early recording all have a chunk, from 0 on
			continue
		}
		if o.generation == generation && o.hasRoom(size) {
			return o
		}
		leave(o)
	}
	r.Lose(rawformat.LostNoChunk, 1, uint64(size))
	return nil
}

// hasRoom reports whether size bytes and their context fit into the chunk of s.
func (s *shard) hasRoom(size uint32) bool {
	return s.offset()+size+maxContext+overshoot <= uint32(len(s.payload))
}

// isReady reports whether a block of that size and context may begin without prepare.
func (s *shard) isReady(size uint32, of context) bool {
	return s.offset() < s.soft && s.offset()+size+overshoot <= uint32(len(s.payload)) && s.current() == of
}

// prepare makes s ready for size bytes of blocks of that context. It takes another chunk if
// there is no room, and restates the context where the format demands it. False: there is
// no chunk, or the goroutine is left out, because it is on a track that is not recorded.
func (r *Recording) prepare(s *shard, size uint32, of context, now rt.Tick) bool {
	if !s.hasRoom(size) && !r.refill(s) {
		return false
	}
	if s.current() != of {
		if of.goroutine == anyone {
			of = s.unlabelled()
		}
		if !r.restate(s, of) {
			return false
		}
	}
	for !s.samePage() {
		// A sync block that begins late in a page may end in the next one.
		s.sync(now)
		s.setStart()
		s.setLabels(of.labels)
	}
	s.soft = min((s.page+1)<<pageShift, uint32(len(s.payload))-fastBlock-overshoot)
	if of.labels != 0 {
		s.soft = 0 // the fast path does not compare labels
	}
	return true
}

// refill gives s a fresh chunk. It pins the goroutine, because others spin while one takes
// a chunk from the ring; but not where faults are not caught, because a fault while pinned
// would be fatal.
func (r *Recording) refill(s *shard) bool {
	if r.ring == nil { // an early recording
		return false
	}
	if r.faultErr != nil || rt.Writers.Err() != nil {
		return r.exchange(s)
	}
	rt.Pin()
	filled := r.exchange(s)
	rt.Unpin()
	return filled
}

// exchange does the work of refill.
func (r *Recording) exchange(s *shard) bool {
	r.retire(s)
	c := r.ring.Get(s.writer, s.generation)
	if r.ring.Low() {
		r.nap.Wake()
	}
	if c == nil {
		s.told = row{}
		if !r.starving.Swap(true) {
			r.nap.Wake()
		}
		return false
	}
	s.setChunk(c)
	return true
}

// setChunk has s write into a new chunk.
func (s *shard) setChunk(c *ring.Chunk) {
	s.chunk, s.payload, s.commit = c, c.Payload(), c.CommitWord()
	s.base = unsafe.Pointer(unsafe.SliceData(s.payload))
	s.chunkStart.Store(c.RangeStart())
}

// retire releases the chunk of s, if it has one.
func (r *Recording) retire(s *shard) {
	if s.chunk != nil {
		rt.Release(s.commit, s.word) // somebody else may have written to the file
		r.ring.Release(s.chunk)
	}
	s.chunk, s.payload, s.commit, s.base = nil, nil, nil, nil
	s.word, s.soft, s.page, s.track, s.goroutine, s.labels = 0, 0, noPage, 0, 0, 0
	s.row, s.start = row{}, 0
	s.chunkStart.Store(0)
}

func (s *shard) offset() uint32 { return uint32(s.word) }

func (s *shard) current() context { return context{s.goroutine, s.track, s.labels} }

// unlabelled is the current context without labels.
func (s *shard) unlabelled() context {
	if s.goroutine >= left {
		return context{}
	}
	return context{goroutine: s.goroutine, track: s.track}
}

// sync begins a page with a sync block.
func (s *shard) sync(now rt.Tick) {
	b := s.begin(rawformat.KindSync)
	b = rawformat.AppendUint(b, s.chunk.RangeStart()+uint64(s.offset()))
	b = rawformat.AppendUint(b, s.chunk.Epoch())
	b = rawformat.AppendUint(b, uint64(now))
	b = rawformat.AppendUint(b, s.goroutine)
	b = rawformat.AppendUint(b, uint64(s.row.track))
	s.labels, s.start, s.last, s.page = 0, 0, now, s.offset()>>pageShift
	s.sampled = sampledThread{}
	s.finish(b)
}

// restate writes the context, except in a new page, whose sync block states it. False: its
// markers are not recorded.
func (r *Recording) restate(s *shard, of context) bool {
	if s.goroutine != of.goroutine || s.track != of.track {
		at, wanted := s.told, true
		if at == (row{}) {
			at, wanted = r.rowOf(of)
		}
		if !wanted {
			s.goroutine = left
			return false
		}
		s.goroutine, s.track, s.row = of.goroutine, of.track, at
		if s.samePage() {
			s.setContext()
			s.setStart()
		}
	}
	s.setLabels(of.labels)
	return true
}

func (s *shard) samePage() bool { return s.page == s.offset()>>pageShift }

// setLabels writes a labels block, unless a page begins here.
func (s *shard) setLabels(id uint32) {
	if s.labels != id && s.samePage() {
		s.labels = id
		s.finish(rawformat.AppendUint(s.begin(rawformat.KindLabels), uint64(id)))
	}
}

func (s *shard) setContext() {
	b := s.begin(rawformat.KindContext)
	b = rawformat.AppendUint(b, s.goroutine)
	b = rawformat.AppendUint(b, uint64(s.row.track))
	b = rawformat.AppendUint(b, 0)
	s.start = 0
	s.finish(b)
}

// setStart says where the goroutine began, unless a page begins here.
func (s *shard) setStart() {
	if s.start != s.row.start && s.samePage() {
		s.start = s.row.start
		s.finish(rawformat.AppendUint(s.begin(rawformat.KindBegan), s.start))
	}
}

// begin returns where the next block goes, for fields to be appended; finish then commits
// it. The fields stay within the payload because prepare was told their size.
func (s *shard) begin(k rawformat.Kind) []byte {
	return append(s.payload[s.offset():s.offset()+1], byte(k))
}

// time appends a T, the time since the last block.
func (s *shard) time(b []byte, now rt.Tick) []byte {
	delta := int64(now - s.last)
	s.last = now
	return rawformat.AppendSint(b, delta)
}

// finish commits the block. Its length takes one byte as a rule, and two if the block is
// long, which moves the block.
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

// MakeShards makes a shard for each of so many processors, and twice as many shared ones: a
// goroutine that loses its thread while it holds one must not cost the markers of others. A
// program may get more processors later, so up to most shards in all are made for
// processors. No shard takes a chunk before it is used.
func (r *Recording) MakeShards(writers, most int) {
	own := 0
	if r.ownErr = r.faultErr; r.ownErr == nil {
		r.ownErr = rt.RegisterBarrier()
	}
	if r.ownErr == nil {
		own = max(writers, min(most, MaxChoices)-2*writers)
	}
	r.shards = make([]shard, own+2*writers)
	r.own, r.shared = r.shards[:own], r.shards[own:]
	r.mask = uintptr(writers - 1)
	for i := range r.shards {
		s := &r.shards[i]
		s.writer, s.generation, s.page, s.owned = uint16(i), 1, noPage, i < len(r.own)
	}
}

// Close locks all shards for good, so that a marker still on its way finds them busy. Call
// it before anything is unmapped. Losses not yet written are written last. A shard whose
// holder does not finish keeps its chunk mapped, see [ring.ErrInUse].
func (r *Recording) Close() {
	var locked []*shard
	begun := rt.Now()
	for i := range r.shards {
		if s := &r.shards[i]; r.claimForGood(s, begun) {
			locked = append(locked, s)
		}
	}
	if n := len(locked); n > 0 {
		r.writeLossesTo(locked[n-1]) // the first choice of our own blocks, so it has a chunk
	}
	for _, s := range locked {
		r.retire(s)
	}
}
