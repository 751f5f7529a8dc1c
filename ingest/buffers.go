package ingest

import (
	"bufio"
	"io"
	"sync"
)

// streamBuffer is how much of a stream is read at once.
const streamBuffer = 64 << 10

// buffers are those through which streams are read while they are searched. There may
// be thousands, one after the other.
type buffers struct{ free sync.Pool } // of *bufio.Reader

func (b *buffers) get(r io.Reader) *bufio.Reader {
	in, ok := b.free.Get().(*bufio.Reader)
	if !ok {
		return bufio.NewReaderSize(r, streamBuffer)
	}
	in.Reset(r)
	return in
}

// put takes a buffer back that nobody reads from any more.
func (b *buffers) put(in *bufio.Reader) {
	in.Reset(nil)
	b.free.Put(in)
}
