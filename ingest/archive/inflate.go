package archive

import (
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// IsGzip and IsZstd tell a compressed stream by its beginning.
func IsGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}) }

// IsZstd: see [IsGzip]. A frame for others may come first, as it does from
// several tools that compress in parallel.
func IsZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// Unpacker unpacks the streams of a run, within its budget and the limits of an
// archive. Decoders of gzip are used again: profiles come by the thousand. The zero
// Unpacker is ready to use, by several goroutines.
type Unpacker struct {
	Budget
	idle sync.Pool // of *gzip.Reader
}

// Gunzip unpacks a stream. The result must be closed, and nothing may be read of it
// then; that does not close r.
func (u *Unpacker) Gunzip(r io.Reader) (io.ReadCloser, error) {
	z, ok := u.idle.Get().(*gzip.Reader)
	if !ok {
		z = new(gzip.Reader)
	}
	raw := &counter{r: r}
	if err := z.Reset(raw); err != nil {
		return nil, raw.blame(err)
	}
	return u.inflated(z, raw, func() { u.idle.Put(z) }), nil
}

// Unzstd is [Unpacker.Gunzip] for zstd.
func (u *Unpacker) Unzstd(r io.Reader) (io.ReadCloser, error) {
	raw := &counter{r: r}
	z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxWindow))
	if err != nil {
		return nil, raw.blame(err)
	}
	return u.inflated(z, raw, z.Close), nil
}

func (u *Unpacker) inflated(r io.Reader, raw *counter, release func()) *inflated {
	return &inflated{allowed: allowed{r, &allowance{budget: &u.Budget}}, raw: raw, release: release}
}

// inflated is a stream that is being unpacked. Its decoder goes to another one when it
// is closed.
type inflated struct {
	allowed
	raw     *counter
	release func() // nil: it is closed
}

func (f *inflated) Read(p []byte) (int, error) {
	if f.release == nil {
		return 0, io.ErrClosedPipe
	}
	f.see(f.raw.n)
	n, err := f.allowed.Read(p)
	if err == ErrBomb {
		return n, err
	}
	return n, f.raw.blame(err)
}

// Close gives the decoder back, once.
func (f *inflated) Close() error {
	if f.release != nil {
		f.release()
		f.release = nil
	}
	return nil
}
