package chunks

import (
	"sync"

	"gprof/rawformat"
)

// maxRecycled is how many discarded chunks a [LocalLimit] keeps for use again:
// one as the current chunk and one as the next of a buffer.
const maxRecycled = 2

// LocalLimit is a [Manager] that discards the oldest released chunk when the
// payloads of all would exceed a limit. Unreleased chunks are never discarded,
// and Release discards nothing, so the limit may be exceeded until the next
// Get. It may be used by several goroutines.
type LocalLimit struct {
	limit, chunk int64              // bytes of payload: of all, of a new chunk
	allocate     func(n int) *Chunk // nil: no memory

	mu         sync.Mutex
	loans      int   // unreleased chunks
	unreleased int64 // bytes of payload
	released   int64
	list       list   // released, the oldest first
	forgets    uint64 // tells loans of before Forget, from 1
	recycled   []*Chunk
	receive    func(*Chunk) // of the request that waits
	discarded  func(*Chunk)

	updateMu sync.Mutex // taken before mu, so that updates come in order
	update   func(Update)
}

var _ Manager = (*LocalLimit)(nil)

// Update is what changed in a [LocalLimit]. Bytes are of payload.
type Update struct {
	Final      bool // nothing follows; the rest is zero
	Unreleased int64
	Released   int64
	OldestDone uint64         // done time of the oldest released chunk, 0 if there is none
	Newly      []ReleasedPart // released since the last update
}

// ReleasedPart is one chunk that was released.
type ReleasedPart struct {
	Done  uint64 // ns of CLOCK_MONOTONIC
	Bytes int64
}

// NewLocalLimit returns a manager of chunks with a payload of chunk bytes,
// limit bytes in all.
func NewLocalLimit(limit, chunk int64) *LocalLimit {
	return &LocalLimit{limit: limit, chunk: chunk, allocate: NewChunk, forgets: 1, list: list{which: byDone}, discarded: func(*Chunk) {}}
}

// Get discards released chunks until there is room for one more, then returns
// a recycled chunk, else a new one.
func (m *LocalLimit) Get() *Chunk {
	m.updateMu.Lock()
	defer m.updateMu.Unlock()
	m.mu.Lock()
	c := m.get()
	u := m.state()
	m.mu.Unlock()
	if c != nil {
		m.tell(u)
	}
	return c
}

func (m *LocalLimit) get() *Chunk {
	for m.released+m.unreleased+m.chunk >= m.limit && m.list.first != nil {
		m.discard()
	}
	var c *Chunk
	if len(m.recycled) > 0 {
		c = m.recycled[0]
		m.recycled = append(m.recycled[:0], m.recycled[1:]...)
		c.recycle()
	} else {
		c = m.allocate(int(m.chunk))
	}
	if c != nil {
		c.loan = m.forgets
		m.loans++
		m.unreleased += int64(len(c.payload))
	}
	return c
}

// discard gives up the oldest released chunk.
func (m *LocalLimit) discard() {
	c := m.list.pop()
	m.released -= int64(len(c.payload))
	m.discarded(c)
	if int64(len(c.payload)) >= m.chunk && len(m.recycled) < maxRecycled {
		m.recycled = append(m.recycled, c)
	}
}

// Request notes who wants a chunk, unless somebody does already.
func (m *LocalLimit) Request(receive func(*Chunk)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.receive == nil {
		m.receive = receive
	}
}

// Fulfill gets a chunk for the request that waits, if one does.
func (m *LocalLimit) Fulfill() {
	m.mu.Lock()
	receive := m.receive
	m.receive = nil
	m.mu.Unlock()
	if receive != nil {
		receive(m.Get())
	}
}

// Release keeps c until it is the oldest and its room is needed.
func (m *LocalLimit) Release(c *Chunk) {
	c.must(rawformat.StateDone)
	m.updateMu.Lock()
	defer m.updateMu.Unlock()
	m.mu.Lock()
	m.repay(c)
	m.released += int64(len(c.payload))
	m.list.insertByDone(c)
	u := m.state()
	m.mu.Unlock()
	u.Newly = []ReleasedPart{{c.done(), int64(len(c.payload))}}
	m.tell(u)
}

// repay removes c from the unreleased chunks. One that was handed out by
// TakeReleased, or is forgotten, is none of them.
func (m *LocalLimit) repay(c *Chunk) {
	if c.loan == m.forgets {
		m.loans--
		m.unreleased -= int64(len(c.payload))
	}
	c.loan = 0
}

// OnDiscard sets who is told of a discarded chunk; its header is still intact
// then. f runs under the manager's lock.
func (m *LocalLimit) OnDiscard(f func(*Chunk)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.discarded = f; f == nil {
		m.discarded = func(*Chunk) {}
	}
}

// DiscardUpTo discards the chunks that were done at or before that time, in ns
// of CLOCK_MONOTONIC and not 0. It sends no update.
func (m *LocalLimit) DiscardUpTo(done uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.list.first != nil && m.list.first.done() <= done {
		m.discard()
	}
}

// TakeReleased hands out all released chunks, which are not counted any more.
func (m *LocalLimit) TakeReleased() []*Chunk {
	m.updateMu.Lock()
	defer m.updateMu.Unlock()
	m.mu.Lock()
	var all []*Chunk
	for c := m.list.pop(); c != nil; c = m.list.pop() {
		all = append(all, c)
	}
	m.released = 0
	u := m.state()
	m.mu.Unlock()
	m.tell(u)
	return all
}

// Peek shows the released chunks.
func (m *LocalLimit) Peek(f func([]*Chunk)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*Chunk
	for c := m.list.first; c != nil; c = m.list.next(c) {
		all = append(all, c)
	}
	f(all)
}

// Forget takes the unreleased chunks off the limit.
func (m *LocalLimit) Forget() {
	m.updateMu.Lock()
	defer m.updateMu.Unlock()
	m.mu.Lock()
	m.loans, m.unreleased = 0, 0
	m.forgets++
	u := m.state()
	m.mu.Unlock()
	m.tell(u)
}

// MaxBytes is the limit.
func (m *LocalLimit) MaxBytes() int64 { return m.limit }

// TotalBytes is the memory of all chunks that the manager counts, headers and
// recycled ones too; a profiler takes it off what it says the program uses.
func (m *LocalLimit) TotalBytes() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	total := m.unreleased + m.released + int64(m.loans)*rawformat.HeaderSize
	for c := m.list.first; c != nil; c = m.list.next(c) {
		total += rawformat.HeaderSize
	}
	for _, c := range m.recycled {
		total += int64(len(c.payload)) + rawformat.HeaderSize
	}
	return total
}

// OnUpdate sets who is told of changes: at once of the present state, then of
// each chunk that is got or released, and of TakeReleased and Forget. Whom it
// replaces gets a final update. f must not call the manager; nil tells nobody.
func (m *LocalLimit) OnUpdate(f func(Update)) {
	m.updateMu.Lock()
	defer m.updateMu.Unlock()
	m.tell(Update{Final: true})
	m.update = f
	m.mu.Lock()
	u := m.state()
	m.mu.Unlock()
	m.tell(u)
}

func (m *LocalLimit) tell(u Update) {
	if m.update != nil {
		m.update(u)
	}
}

func (m *LocalLimit) state() Update {
	u := Update{Unreleased: m.unreleased, Released: m.released}
	if m.list.first != nil {
		u.OldestDone = m.list.first.done()
	}
	return u
}
