package chunks

// State returns what the buffer holds.
func (b *Buffer) State() BufferState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return BufferState{
		RangeStart: b.start.Load(),
		RangeEnd:   b.rangeEnd(),
		Pushed:     b.pushed,
		Cleared:    b.cleared.Load(),
		Failed:     b.failed,
	}
}

// rangeEnd is not below the range start: a discarded chunk may have had unused
// bytes at its end.
func (b *Buffer) rangeEnd() uint64 { return max(b.end, b.start.Load()) }

// Current reports whether a block lies in the chunk that is being written.
func (b *Buffer) Current(index uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.current
	return c != nil && index >= c.RangeStart() && index-c.RangeStart() < uint64(c.room.at)
}

// Earliest is when the oldest chunk that is held was opened, in ns of
// CLOCK_MONOTONIC; 0 if there is none.
func (b *Buffer) Earliest() uint64 {
	var t uint64
	b.Peek(func(chunks []*Chunk) {
		if len(chunks) > 0 {
			t = chunks[0].fixed.Open.Monotonic
		}
	})
	return t
}

// Peek calls f with the chunks that hold blocks, in order: the released ones,
// then the current one. Nothing is written and nothing discarded meanwhile. f
// must not call the buffer nor keep the slice.
func (b *Buffer) Peek(f func(chunks []*Chunk)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.peek(f)
}

func (b *Buffer) peek(f func(chunks []*Chunk)) {
	if b.manager == nil {
		f(nil)
		return
	}
	b.manager.Peek(func(released []*Chunk) {
		if b.current != nil {
			released = append(released, b.current)
		}
		f(released)
	})
}

// Clear empties the buffer and keeps the session. Counters begin again,
// indexes go on; the chunks are used again.
func (b *Buffer) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manager == nil {
		return
	}
	b.reset()
	b.end = b.hand
	b.start.Store(b.hand)
	for _, c := range b.manager.TakeReleased() {
		c.recycle()
		b.next = append(b.next, c)
	}
	if c := b.current; c != nil {
		c.finish(b.o.Anchor())
		c.recycle()
		b.opened(c)
	}
	b.ask()
}

// Take hands out all chunks, those with blocks first and in order. The buffer
// is empty then; the counters stay.
func (b *Buffer) Take() []*Chunk {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manager == nil {
		return nil
	}
	b.collect() // what was delivered is the buffer's, too
	all := b.manager.TakeReleased()
	if b.current != nil {
		b.current.finish(b.o.Anchor())
		all = append(all, b.current)
	}
	all = append(all, b.next...)
	b.current, b.next = nil, nil
	b.manager.Forget()
	b.end = b.hand
	b.start.Store(b.hand)
	return all
}
