package shard

import (
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// Block is one of the recorder's own blocks: a time, fields of type U (or S in zig-zag
// form), and a text.
type Block struct {
	Kind          rawformat.Kind
	Time          rt.Tick
	Track, Labels uint32   // ids of its context, 0: none
	PCs           []uint64 // of a stack block to write before it, at most [MaxPCs]
	Fields        []uint64
	Text          string // cut at maxText
	HasText       bool   // it has a text, which may be empty

	// Previous is the index of an earlier block with the same content, 0 if there is none.
	// If that lies in the chunk that this block would go into, this one is not written.
	Previous uint64
}

// Patience says how long a block waits for a free shard.
type Patience uint8

const (
	// NoWait is for blocks from goroutines of the program. A block that finds no free
	// shard is counted as lost.
	NoWait Patience = iota
	// Wait is for blocks from goroutines of the recorder. They wait for some
	// milliseconds. A block that finds no free shard is counted as lost.
	Wait
	// WaitUncounted is Wait for blocks that will be tried again: they are not counted.
	WaitUncounted
)

// Write writes blocks into one chunk, one behind the other. It returns the index of the
// first one; 0 if it was not written, because it is there already or, which is counted,
// because there is no room. False: no shard was free. Indexes in an early recording mean
// nothing to the one that takes over, so that index is 0 there, too.
func (r *Recording) Write(p Patience, blocks ...Block) (index uint64, ok bool) {
	s := r.shardFor(p)
	if s == nil {
		return 0, false
	}
	size := uint32(0) // of the blocks left to write, each with its context
	for i := range blocks {
		size += blocks[i].size() + maxContext
	}
	for i := range blocks {
		b := &blocks[i]
		if s = r.readyForStack(s, size-maxContext, context{track: b.Track, labels: b.Labels}, b.Time, b.PCs); s == nil {
			return 0, true
		}
		size -= b.size() + maxContext
		if b.Previous != 0 && b.Previous >= s.chunk.RangeStart() {
			continue
		}
		if i == 0 && r.ring != nil {
			index = s.index()
		}
		s.block(b)
	}
	leave(s)
	return index, true
}

func (r *Recording) shardFor(p Patience) *shard {
	switch p {
	case NoWait:
		return r.enter()
	case Wait:
		return r.awaitShardOrLose()
	}
	return r.awaitShard()
}

// size is an upper bound for the block and its stack, without its context.
func (b *Block) size() uint32 {
	n := 16 + 10*len(b.Fields)
	if len(b.PCs) > 0 {
		n += stackRoom + 2*10*len(b.PCs)
	}
	if b.HasText {
		n += min(len(b.Text), maxText) + 2
	}
	return uint32(n)
}

// stackRoom is more than a stack block takes without its pcs.
const stackRoom = 16

// block writes the block.
func (s *shard) block(b *Block) {
	text := s.time(s.begin(b.Kind), b.Time)
	for _, v := range b.Fields {
		text = rawformat.AppendUint(text, v)
	}
	if b.HasText {
		text = appendCut(text, b.Text)
	}
	s.finish(text)
}

// index is the recording's index of the next block.
func (s *shard) index() uint64 { return s.chunk.RangeStart() + uint64(s.offset()) }

// Log writes a line of text for people who read the recording.
func (r *Recording) Log(level rawformat.LogLevel, text string) {
	r.Write(Wait, Block{Kind: rawformat.KindLog, Time: r.clock.Now(), Fields: []uint64{uint64(level)}, Text: text, HasText: true})
}

// Interval writes an interval of the process, made by the calling goroutine.
//
//go:noinline
func (r *Recording) Interval(h Handle, begin, end rt.Tick, values ...Typed) {
	h.Track = registry.Process
	r.markN(h, rawformat.KindInterval, end, begin, values)
}

// ProcessInstant writes an instant of the process, of no goroutine.
func (r *Recording) ProcessInstant(h Handle, values ...Typed) {
	if r.has(h) {
		r.write(&marker{d: h.Event, kind: rawformat.KindInstant, now: r.clock.Now(), many: true, values: values}, nil)
	}
}

// ProcessInterval writes an interval of the process, of no goroutine.
func (r *Recording) ProcessInterval(h Handle, begin, end rt.Tick, values ...Typed) {
	if r.has(h) {
		r.write(&marker{d: h.Event, kind: rawformat.KindInterval, now: end, begin: begin, many: true, values: values}, nil)
	}
}
