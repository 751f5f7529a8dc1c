package shard

import (
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Block is one of the recorder's own: a time, fields of type U (or S as their zig-zag
// form), and a text.
type Block struct {
	Kind          rawformat.Kind
	Time          rt.Tick
	Track, Labels uint32   // ids of its context, 0 none
	PCs           []uint64 // of a stack block in front of it, at most [MaxPCs]
	Fields        []uint64
	Text          string // is cut at [MaxText]
	Texted        bool   // it has a text, be it empty

	// Said is the index of a block that says the same, 0 none. Where that lies in the
	// chunk that this one would get into, it is not written again.
	Said uint64
}

// Patience is how long a block waits for a shard that is free.
type Patience uint8

// The patiences.
const (
	// Hasty blocks come from goroutines of the program. They don't wait; what finds no
	// shard is counted.
	Hasty Patience = iota
	// Steady blocks come from goroutines of the recorder, and wait for some
	// milliseconds. What finds no shard is counted.
	Steady
	// Repeated blocks are Steady, but what finds no shard is not counted, because it
	// comes again.
	Repeated
)

// Write writes blocks, one behind the other, into one chunk. It returns the index of
// the first, 0 if that was said or has no room, which is counted. False: no shard was
// free. A recording that takes over from an early one counts what that has anew: the
// index is 0 there, too.
func (r *Recording) Write(p Patience, blocks ...Block) (index uint64, ok bool) {
	s := r.shardFor(p)
	if s == nil {
		return 0, false
	}
	size := uint32(0) // of what is left to write, each with its context
	for i := range blocks {
		size += blocks[i].size() + maxTurn
	}
	for i := range blocks {
		b := &blocks[i]
		if !r.turnWithStack(s, size-maxTurn, who{track: b.Track, labels: b.Labels}, b.Time, b.PCs) {
			return 0, true
		}
		size -= b.size() + maxTurn
		if b.Said != 0 && b.Said >= s.chunk.RangeStart() {
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
	case Hasty:
		return r.enter()
	case Steady:
		return r.acquirePatiently()
	}
	return r.acquireAny()
}

// size is at least what the block takes, with its stack but without its context.
func (b *Block) size() uint32 {
	n := 16 + 10*len(b.Fields)
	if len(b.PCs) > 0 {
		n += stackRoom + 2*10*len(b.PCs)
	}
	if b.Texted {
		n += min(len(b.Text), MaxText) + 2
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
	if b.Texted {
		text = appendCut(text, b.Text)
	}
	s.finish(text)
}

// index is where the next block begins, in the recording.
func (s *shard) index() uint64 { return s.chunk.RangeStart() + uint64(s.offset()) }

// Log writes a line for whoever reads the recording.
func (r *Recording) Log(level rawformat.LogLevel, text string) {
	r.Write(Steady, Block{Kind: rawformat.KindLog, Time: r.clock.Now(), Fields: []uint64{uint64(level)}, Text: text, Texted: true})
}

// Interval writes an interval of the calling goroutine.
//
//go:noinline
func (r *Recording) Interval(h Handle, begin, end rt.Tick, values ...Typed) {
	r.markN(h, rawformat.KindInterval, end, begin, values)
}

// ProcessInterval writes an interval of no goroutine.
func (r *Recording) ProcessInterval(h Handle, begin, end rt.Tick, values ...Typed) {
	if r.has(h) {
		r.write(&marker{d: h.Event, kind: rawformat.KindInterval, now: end, begin: begin, many: true, values: values}, nil)
	}
}
