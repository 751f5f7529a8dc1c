package chunks

import (
	"gprof/rawformat"
)

// Each calls f with the index and the entry of each block, in order, until it
// returns false. A block that was begun in a chunk that is gone is left out.
// The entry is valid until f returns; f must not call the buffer.
func (b *Buffer) Each(f func(index uint64, entry []byte) bool) { b.EachFrom(0, f) }

// EachFrom is Each of the blocks at or behind an index. That may be any: one that
// was discarded leads to the first block that is left, one within a block to the
// next, one behind all blocks to none.
func (b *Buffer) EachFrom(from uint64, f func(index uint64, entry []byte) bool) {
	b.Peek(func(chunks []*Chunk) {
		e := entries{f: func(index uint64, entry []byte) bool { return index < from || f(index, entry) }}
		for _, c := range chunks {
			if from-c.RangeStart() >= uint64(len(c.payload)) && from > c.RangeStart() {
				continue // no block of it, nor one that goes on in the next
			}
			if !e.chunk(c) {
				return
			}
		}
	})
}

// Append puts the entries of from, which is another buffer, until one is
// dropped. It returns the index of the first, 0 if there is none.
func (b *Buffer) Append(from *Buffer) uint64 {
	var first uint64
	from.Each(func(_ uint64, entry []byte) bool {
		index := b.Put(entry)
		if first == 0 {
			first = index
		}
		return index != 0
	})
	return first
}

// entries goes over the entries of chunks.
type entries struct {
	f     func(index uint64, entry []byte) bool
	head  []byte // of a block that goes on in the next chunk
	index uint64 // of it
	end   uint64 // of the range of its chunk
}

// chunk goes over the blocks of c, the first one being that which began in the
// chunk before, if c follows it.
func (e *entries) chunk(c *Chunk) bool {
	commit, _ := c.committed() // it is bounded
	data := c.payload[:commit.Offset()]
	at := min(int(c.fixed.FirstBlock), len(data))
	if len(e.head) > 0 && e.end == c.RangeStart() {
		whole := append(e.head, data[:at]...)
		if body := bodyOf(whole); body > 0 && !e.f(e.index, whole[body:]) {
			return false
		}
	}
	e.head = e.head[:0]
	for at < len(data) {
		n, size, err := rawformat.ReadUint(data[at:])
		if err != nil || n > uint64(len(data)-at-size) {
			e.head = append(e.head, data[at:]...)
			e.index, e.end = c.RangeStart()+uint64(at), c.RangeStart()+uint64(len(c.payload))
			break
		}
		end := at + size + int(n)
		if !e.f(c.RangeStart()+uint64(at), data[at+size:end]) {
			return false
		}
		at = end
	}
	return true
}

// bodyOf is where the body of a block begins that is all of b, else 0.
func bodyOf(b []byte) int {
	n, size, err := rawformat.ReadUint(b)
	if err != nil || n != uint64(len(b)-size) {
		return 0
	}
	return size
}

// File is the chunk as a chunk file. It is sealed if the chunk is done; its
// writer must not be active. The error is [rawformat.ErrTooBig] if the chunk is
// larger than a chunk file can be.
func (c *Chunk) File() ([]byte, error) {
	size := rawformat.HeadSize + len(c.payload) + rawformat.TrailerSize
	if size > rawformat.MaxChunkFile {
		return nil, &rawformat.Error{Off: int64(size), What: "chunk file", Err: rawformat.ErrTooBig}
	}
	mem := make([]byte, size)
	f := fileChunk(mem)
	f.fixed = c.Header()
	copy(f.payload, c.payload)
	rawformat.PutHeader(f.head, &f.fixed)
	rawformat.PutTrailer(f.trailer, f.fixed.Instance, f.fixed.Epoch)
	if f.fixed.State == rawformat.StateDone {
		return mem, f.seal(true)
	}
	return mem, nil
}
