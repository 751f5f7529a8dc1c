package archive

import (
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Gunzipper unpacks many gzip streams, such as profiles, which come by the thousand,
// with decoders that are used again. The zero Gunzipper is ready to use, by several
// goroutines.
type Gunzipper struct{ idle sync.Pool } // of *gzip.Reader

// Gunzip is [Gunzip]; nothing may be read of the result once it is closed.
func (g *Gunzipper) Gunzip(r io.Reader) (io.ReadCloser, error) {
	z, ok := g.idle.Get().(*gzip.Reader)
	if !ok {
		z = new(gzip.Reader)
	}
	raw := &counter{r: r}
	if err := z.Reset(raw); err != nil {
		return nil, raw.blame(err)
	}
	return &lent{inflated{z, raw, 0, func() { g.idle.Put(z) }}, false}, nil
}

// lent is a stream whose decoder goes to another one when it is closed.
type lent struct {
	inflated
	closed bool
}

func (l *lent) Read(p []byte) (int, error) {
	if l.closed {
		return 0, io.ErrClosedPipe
	}
	return l.inflated.Read(p)
}

// Close gives the decoder back, once.
func (l *lent) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	return l.inflated.Close()
}
