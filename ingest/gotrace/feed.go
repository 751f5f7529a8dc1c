package gotrace

import (
	"bufio"
	"io"
)

// feed is a generation as a file of its own: the header of the file that it is
// from, and its batches.
//
// golang.org/x/exp/trace reads a batch into a [bytes.Buffer] of its size, which
// grows to more than twice that only to find that nothing follows, and keeps it.
// So where all data of a batch is handed over at once, an io.EOF comes with it,
// although there is more: a generation then takes half the memory.
type feed struct {
	batches  scan
	from, to int64 // the generation
	off      int64 // in the file
	left     int64 // bytes of the piece that is handed over: header, head or data
	data     int64 // bytes of data behind that head
}

// feedBuffer is the size of the buffer that the library reads from. What is
// larger it reads past it.
const feedBuffer = 4096

func newFeed(r io.ReaderAt, version int, g *generation) *bufio.Reader {
	f := &feed{batches: scan{r: r, version: version}, from: g.from, to: g.to, left: headerSize}
	return bufio.NewReaderSize(f, feedBuffer)
}

// Read implements [io.Reader].
func (f *feed) Read(p []byte) (n int, err error) {
	if f.left == 0 {
		if err := f.turn(); err != nil {
			return 0, err
		}
	}
	n, err = f.batches.r.ReadAt(p[:min(int64(len(p)), f.left)], f.off)
	f.off, f.left = f.off+int64(n), f.left-int64(n)
	if err == io.EOF && n > 0 {
		err = nil
	}
	if n == len(p) && n > feedBuffer && f.left == 0 { // heads are shorter
		err = io.EOF
	}
	return n, err
}

// turn goes on to the next piece.
func (f *feed) turn() error {
	if f.data > 0 {
		f.left, f.data = f.data, 0
		return nil
	}
	f.off = max(f.off, f.from)
	if f.off >= f.to {
		return io.EOF
	}
	b, err := f.batches.batch(f.off)
	f.left, f.data = b.head, b.size
	return err
}
