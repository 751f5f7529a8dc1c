package chunks

import (
	"sync"
	"sync/atomic"

	"gprof/rawformat"
)

// BufferOptions are what a buffer writes into its chunks' headers.
type BufferOptions struct {
	Instance   uint64
	Pid        uint32
	Writer     uint16
	Generation uint16
	Clock      rawformat.ClockKind
	Anchor     func() rawformat.Anchor // reads the clocks; nil gives unknown times
}

// Buffer is a sequence of blocks in chunks of heap memory. A block that does
// not fit its chunk goes on in the next one. Several goroutines may use it.
//
// Without a [Manager] a buffer is out of session: it takes nothing in.
type Buffer struct {
	o BufferOptions

	mu      sync.Mutex
	manager Manager
	current *Chunk   // nil: none
	next    []*Chunk // to follow; only the first one can have been opened, for a tail
	request *request // that waits, or whose answer was not taken
	epoch   uint64
	hand    uint64 // range start of the next chunk that is opened
	end     uint64 // index behind the last block
	pushed  uint64
	failed  uint64

	// Stored by the manager's discards, which may come at any time.
	start   atomic.Uint64
	cleared atomic.Uint64
}

// BufferState is what a buffer holds. Live blocks are Pushed - Cleared; it is
// empty if RangeStart is RangeEnd.
type BufferState struct {
	RangeStart uint64 // the lowest index that was not discarded; the start of a chunk, not of a block
	RangeEnd   uint64 // behind the last block
	Pushed     uint64 // blocks put
	Cleared    uint64 // of them, discarded
	Failed     uint64 // bytes of blocks that were dropped
}

// NewBuffer returns a buffer that is out of session.
func NewBuffer(o BufferOptions) *Buffer {
	if o.Anchor == nil {
		o.Anchor = func() (a rawformat.Anchor) { return a }
	}
	b := &Buffer{o: o, hand: 1, end: 1}
	b.start.Store(1)
	return b
}

// Attach begins a session: the buffer takes one chunk at once, and asks for
// another. A manager that was attached is detached first; nil only does that.
func (b *Buffer) Attach(m Manager) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manager != nil {
		b.detach()
	}
	if b.manager = m; m == nil {
		return
	}
	m.OnDiscard(b.discarded)
	b.current = b.opened(m.Get())
	b.ask()
}

// detach gives everything up. Indexes go on.
func (b *Buffer) detach() {
	b.manager.OnDiscard(nil)
	b.manager.TakeReleased()
	b.manager.Forget()
	b.manager, b.current, b.next, b.request = nil, nil, nil, nil
	b.hand = b.rangeEnd()
	b.end = b.hand
	b.start.Store(b.hand)
	b.reset()
}

func (b *Buffer) reset() {
	b.pushed, b.failed = 0, 0
	b.cleared.Store(0)
}

// Put copies entry, kind and fields, into a block of its own and returns the
// block's index; 0 if it was dropped.
func (b *Buffer) Put(entry []byte) uint64 {
	return b.Reserve(func() int { return len(entry) }, func(head, tail []byte) {
		copy(tail, entry[copy(head, entry):])
	})
}

// Reserve reserves a block for an entry of size() bytes, at least 1, has write
// fill it, and returns the block's index. The entry's place is head and, if it
// goes on in the next chunk, tail. If there is no place write gets nil twice
// and the index is 0; out of session size is not called.
func (b *Buffer) Reserve(size func() int, write func(head, tail []byte)) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manager == nil {
		write(nil, nil)
		return 0
	}
	return b.put(size(), write)
}

// put has these steps:
//  1. Get a current chunk.
//  2. If the block fits, reserve it there. If it is larger than what is left
//     and as large as a whole chunk, drop it.
//  3. Otherwise the current chunk is filled, whatever happens: the block takes
//     the rest of it and the begin of the next one, or is dropped if there is
//     no next one.
//  4. Have the block written, then commit: the tail, then the head.
//  5. If the current chunk is filled, release it and go to the next.
func (b *Buffer) put(size int, write func(head, tail []byte)) uint64 {
	if size <= 0 {
		panic("internal error: empty entry")
	}
	total := rawformat.UintSize(uint64(size)) + size
	if !b.obtain() || size > rawformat.MaxBlock || total > b.current.left() && total >= len(b.current.payload) {
		return b.drop(total, write)
	}
	c := b.current
	var head, tail []byte
	index := c.RangeStart() + uint64(c.room.at)
	if total <= c.left() {
		head = c.reserve(total)
	} else if rest := total - c.left(); b.follow(rest) {
		tail = b.next[0].openTail(rest)
		head = c.reserve(total)
	} else {
		b.advance()
		return b.drop(total, write)
	}
	fill(head, tail, size, write)
	b.committed(tail != nil)
	return index
}

// drop counts a block that found no place.
func (b *Buffer) drop(total int, write func(head, tail []byte)) uint64 {
	b.failed += uint64(total)
	write(nil, nil)
	return 0
}

// fill stores the block's length and has write store the rest.
func fill(head, tail []byte, size int, write func(head, tail []byte)) {
	var room [10]byte
	length := rawformat.AppendUint(room[:0], uint64(size))
	n := copy(head, length)
	m := copy(tail, length[n:])
	write(head[n:], tail[m:])
}

// committed publishes the block that was written and leaves a full chunk.
func (b *Buffer) committed(straddles bool) {
	c, last := b.current, b.current
	if straddles {
		last = b.next[0]
		last.commit()
	}
	c.commit()
	b.pushed++
	b.end = last.RangeStart() + uint64(last.room.at)
	if c.left() == 0 {
		b.advance()
	}
}

// obtain makes sure that there is a current chunk, if one can be had.
func (b *Buffer) obtain() bool {
	if b.current == nil {
		b.collect()
		b.current = b.shift()
	}
	if b.current == nil {
		b.current = b.opened(b.manager.Get())
	}
	return b.current != nil
}

// follow makes sure that there is a next chunk with room for a tail, if one
// can be had, and gives it its range.
func (b *Buffer) follow(tail int) bool {
	b.collect()
	if len(b.next) == 0 {
		if c := b.manager.Get(); c != nil {
			b.next = append(b.next, c)
		}
	}
	if len(b.next) == 0 || len(b.next[0].payload) < tail {
		return false
	}
	b.prepare(b.next[0])
	return true
}

// advance releases the current chunk, goes to the next one, and asks for
// another.
func (b *Buffer) advance() {
	old := b.current
	b.current = b.shift()
	old.finish(b.o.Anchor())
	b.manager.Release(old)
	b.ask()
}

// shift takes the first of the next chunks; nil if there is none.
func (b *Buffer) shift() *Chunk {
	if len(b.next) == 0 {
		return nil
	}
	c := b.next[0]
	b.next = append(b.next[:0], b.next[1:]...)
	if c.State() == rawformat.StateInUse { // it has received a tail
		return c
	}
	return b.opened(c)
}

// opened opens a chunk that begins with a block; nil stays nil.
func (b *Buffer) opened(c *Chunk) *Chunk {
	if c != nil {
		b.prepare(c)
		c.openTail(0)
	}
	return c
}

// prepare gives a chunk its range and its header.
func (b *Buffer) prepare(c *Chunk) {
	b.epoch++
	c.fixed = rawformat.Header{
		Version:    rawformat.Version,
		Flags:      uint16(b.o.Clock)<<8 | rawformat.FlagStraddle,
		Instance:   b.o.Instance,
		Epoch:      b.epoch,
		RangeStart: b.hand,
		Capacity:   uint32(len(c.payload)),
		Pid:        b.o.Pid,
		Writer:     b.o.Writer,
		Generation: b.o.Generation,
		Open:       b.o.Anchor(),
		Held:       b.start.Load(),
	}
	b.hand += uint64(len(c.payload))
}

// ask requests a chunk if there is no current or no next one.
func (b *Buffer) ask() {
	if (b.current == nil || len(b.next) == 0) && b.request == nil {
		b.request = &request{}
		b.manager.Request(b.request.receive)
	}
}

// collect takes the answer of the request into the next chunks.
func (b *Buffer) collect() {
	if b.request == nil {
		return
	}
	c, answered := b.request.answer()
	if answered {
		b.request = nil
	}
	if c != nil {
		b.next = append(b.next, c)
	}
}

// request is a chunk that was asked for. The manager answers at any time.
type request struct {
	mu       sync.Mutex
	chunk    *Chunk
	answered bool
}

func (q *request) receive(c *Chunk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.chunk, q.answered = c, true
}

func (q *request) answer() (c *Chunk, answered bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.chunk, q.answered
}

// discarded notes that a chunk's content is gone.
func (b *Buffer) discarded(c *Chunk) {
	end := c.RangeStart() + uint64(len(c.payload))
	for {
		start := b.start.Load()
		if start >= end || b.start.CompareAndSwap(start, end) {
			break
		}
	}
	b.cleared.Add(uint64(c.room.blocks))
}
