package spill

// blockBytes is how much a Buffer collects before it goes to the file: enough that a
// read costs little, and that a block is worth a piece of an output.
const blockBytes = 64 << 10

// Buffer is bytes that are read back once, in order. Buffers of one File may grow at the
// same time.
type Buffer struct {
	file   *File
	blocks []extent
	last   []byte // not in the file yet
}

// extent is a part of a file.
type extent struct {
	offset int64
	size   int
}

// NewBuffer returns an empty Buffer in f. It must be empty when f is Reset.
func (f *File) NewBuffer() *Buffer { return &Buffer{file: f} }

// Write adds p, which will be in one block. The file keeps the error.
func (b *Buffer) Write(p []byte) (int, error) {
	b.last = append(b.last, p...)
	if len(b.last) >= blockBytes {
		b.blocks = append(b.blocks, extent{b.file.Size(), len(b.last)})
		b.file.Write(b.last)
		b.last = b.last[:0]
	}
	return len(p), b.file.err
}

// Drain calls each for the blocks in order, valid until it returns, and empties the
// buffer.
func (b *Buffer) Drain(each func(block []byte)) error {
	var block []byte
	for _, at := range b.blocks {
		if cap(block) < at.size {
			block = make([]byte, at.size)
		}
		block = block[:at.size]
		if _, err := b.file.ReadAt(block, at.offset); err != nil {
			return err
		}
		each(block)
	}
	if len(b.last) > 0 {
		each(b.last)
	}
	b.blocks, b.last = b.blocks[:0], b.last[:0]
	return b.file.err
}
