package chunks

import "gprof/rawformat"

// Manager gives chunks to a [Buffer] and keeps those that the buffer gives
// back. It is the whole of what Gecko's chunk managers promise, hence more
// than three methods: a buffer works with any of them.
//
// A chunk that was given and not released is unreleased; nothing discards it.
type Manager interface {
	// Get returns a chunk in state Created or Recycled, nil if there is none.
	Get() *Chunk

	// Request asks for a chunk, later: receive is called once, perhaps with
	// nil, by Fulfill or at once. While one request waits, others are ignored.
	Request(receive func(*Chunk))

	// Fulfill serves the request that waits. It may allocate: the housekeeper
	// calls it, off the hot path. receive may make the next request, which
	// waits for the next Fulfill.
	Fulfill()

	// Release takes one chunk back, in state Done.
	Release(c *Chunk)

	// OnDiscard sets who is told of a chunk before it is used again or freed.
	// f must not call the manager; the chunk is f's until it returns.
	OnDiscard(f func(*Chunk))

	// TakeReleased hands out all released chunks, the oldest first. They are
	// the caller's.
	TakeReleased() []*Chunk

	// Peek calls f with the released chunks, the oldest first, and discards
	// none meanwhile. f must not call the manager nor keep the slice.
	Peek(f func(released []*Chunk))

	// Forget makes the manager forget its unreleased chunks: they will not
	// come back.
	Forget()

	// MaxBytes is the largest total of payloads that it gives.
	MaxBytes() int64
}

// Single is a [Manager] of one chunk, which it gives once. It is for one
// goroutine.
type Single struct {
	chunk    *Chunk // to be given
	released *Chunk
	size     int64
}

var _ Manager = (*Single)(nil)

// NewSingle returns a manager of c, in state Created or Recycled.
func NewSingle(c *Chunk) *Single { return &Single{chunk: c, size: int64(len(c.payload))} }

// Get returns the chunk, nil from the second time on.
func (s *Single) Get() *Chunk {
	c := s.chunk
	s.chunk = nil
	return c
}

// Request answers at once.
func (s *Single) Request(receive func(*Chunk)) { receive(s.Get()) }

// Fulfill does nothing: no request ever waits.
func (s *Single) Fulfill() {}

// Release keeps the chunk for TakeReleased.
func (s *Single) Release(c *Chunk) {
	c.must(rawformat.StateDone)
	s.released = c
}

// OnDiscard does nothing: nothing is ever discarded.
func (s *Single) OnDiscard(func(*Chunk)) {}

// TakeReleased hands the released chunk out, once.
func (s *Single) TakeReleased() []*Chunk {
	if s.released == nil {
		return nil
	}
	c := s.released
	s.released = nil
	return []*Chunk{c}
}

// Peek shows the released chunk, if there is one.
func (s *Single) Peek(f func([]*Chunk)) {
	if s.released == nil {
		f(nil)
		return
	}
	f([]*Chunk{s.released})
}

// Forget does nothing: unreleased chunks are not counted.
func (s *Single) Forget() {}

// MaxBytes is the size of the chunk's payload.
func (s *Single) MaxBytes() int64 { return s.size }

// Reset makes c, which was released or never used, the chunk to be given.
func (s *Single) Reset(c *Chunk) {
	c.recycle()
	s.chunk, s.released, s.size = c, nil, int64(len(c.payload))
}
