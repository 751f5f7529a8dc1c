package chunks

import (
	"errors"

	"gprof/rawformat"
)

// A buffer may be the value of a field in another one's entry, as a stack of frames
// that was captured ahead is in Gecko. It lies there as
//
//	length U | index of the first block X | blocks | pushed X | cleared X
//
// all in one chunk; nothing at all is the length 0.

// ErrSpread means that what a buffer holds lies in more than one chunk.
var ErrSpread = errors.New("blocks lie in more than one chunk")

// AppendNested appends what b holds for [ReadNested]. The error is [ErrSpread];
// nothing is appended then. A buffer that is out of session holds nothing.
func (b *Buffer) AppendNested(dst []byte) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var blocks []byte
	var index uint64
	var err error
	b.peek(func(chunks []*Chunk) {
		for _, c := range chunks {
			first, end := int(c.fixed.FirstBlock), int(c.room.at)
			switch {
			case first >= end:
			case blocks != nil:
				err = ErrSpread
			default:
				blocks, index = c.payload[first:end], c.RangeStart()+uint64(first)
			}
		}
	})
	if err != nil {
		return dst, err
	}
	dst = rawformat.AppendUint(dst, uint64(len(blocks)))
	if len(blocks) == 0 {
		return dst, nil
	}
	dst = append(rawformat.AppendFixed(dst, index), blocks...)
	return rawformat.AppendFixed(rawformat.AppendFixed(dst, b.pushed), b.cleared.Load()), nil
}

// ReadNested reads what AppendNested wrote and returns the bytes behind it. The
// buffer has one chunk, which is full, and its blocks have the indexes that they
// had. The errors are of package rawformat: data may be anybody's.
func ReadNested(data []byte) (b *Buffer, rest []byte, err error) {
	c := rawformat.NewCursor(data, 0)
	size := c.Uint("length of a nested buffer")
	if size == 0 {
		return NewBuffer(BufferOptions{}), data[c.Offset():], c.Err()
	}
	if size > rawformat.MaxChunkFile {
		return nil, nil, nestedError(0, rawformat.ErrTooBig)
	}
	index, first := c.Fixed("index"), c.Offset()
	blocks := c.Bytes(int(size), "nested blocks")
	pushed, cleared := c.Fixed("pushed"), c.Fixed("cleared")
	count, at := countBlocks(blocks)
	switch {
	case c.Err() != nil:
		return nil, nil, c.Err()
	case at < len(blocks):
		return nil, nil, nestedError(first+int64(at), rawformat.ErrTruncated)
	case index == 0 || index+size < index || pushed-cleared != uint64(count):
		return nil, nil, nestedError(0, rawformat.ErrHeader)
	}
	return nested(index, blocks, pushed, cleared), data[c.Offset():], nil
}

func nestedError(at int64, err error) error {
	return &rawformat.Error{Off: at, What: "nested buffer", Err: err}
}

// countBlocks counts blocks, up to where one does not end within b.
func countBlocks(b []byte) (count, at int) {
	for at < len(b) {
		n, size, err := rawformat.ReadUint(b[at:])
		if err != nil || n == 0 || n > uint64(len(b)-at-size) {
			break
		}
		at += size + int(n)
		count++
	}
	return count, at
}

// nested is a buffer of one full chunk, from an index on.
func nested(index uint64, blocks []byte, pushed, cleared uint64) *Buffer {
	b := NewBuffer(BufferOptions{})
	b.hand = index
	b.start.Store(index)
	b.Attach(NewSingle(NewChunk(len(blocks))))
	c := b.current
	copy(c.reserve(len(blocks)), blocks)
	c.room.blocks = uint32(pushed - cleared)
	c.commit()
	b.end, b.pushed = index+uint64(len(blocks)), pushed
	b.cleared.Store(cleared)
	return b
}
