package archive

import (
	"bytes"
	"io"
	"sync"

	"gprof/ingest/internal/inflate"
)

// Gunzipper unpacks many gzip streams. Small ones, such as profiles, which come by
// the thousand, it unpacks whole, in memory that is used again. The zero Gunzipper is
// ready to use, by several goroutines.
type Gunzipper struct{ rooms sync.Pool } // of *room

// A file of up to maxWhole bytes that becomes up to maxUnpacked is a small one.
const (
	maxWhole    = 256 << 10
	maxUnpacked = 16 * maxWhole
)

// Gunzip is [Gunzip]; nothing may be read of the result once it is closed. Up to
// maxWhole bytes of r are read before it returns.
func (g *Gunzipper) Gunzip(r io.Reader) (io.ReadCloser, error) {
	room, ok := g.rooms.Get().(*room)
	if !ok {
		room = newRoom()
	}
	n, err := io.ReadFull(r, room.packed)
	whole := err == io.EOF || err == io.ErrUnexpectedEOF
	if whole {
		if out, ok := room.unpacker.Gunzip(room.packed[:n], maxUnpacked); ok {
			room.out.Reset(out)
			return &roomed{&room.out, func() { g.rooms.Put(room) }}, nil
		}
	}
	rest := r
	switch {
	case whole:
		rest = bytes.NewReader(nil)
	case err != nil:
		rest = failed{err}
	}
	return Gunzip(io.MultiReader(bytes.NewReader(room.packed[:n]), rest))
}

// room is for one stream.
type room struct {
	packed   []byte
	unpacker inflate.Unpacker
	out      bytes.Reader
}

func newRoom() *room { return &room{packed: make([]byte, maxWhole+1, maxWhole+1+inflate.Slack)} }

// roomed is a stream that was unpacked whole.
type roomed struct {
	io.Reader
	leave func()
}

// Close gives the room to others, once.
func (r *roomed) Close() error {
	if r.leave != nil {
		r.leave()
	}
	r.Reader, r.leave = failed{io.ErrClosedPipe}, nil
	return nil
}

// failed is the rest of a stream that can't be read.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
