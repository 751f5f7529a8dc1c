package archive

import (
	"bytes"
	"io"

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

// Gunzip and Unzstd unpack a stream, within the limits of an archive. The
// result must be closed; that does not close r.
func Gunzip(r io.Reader) (io.ReadCloser, error) {
	raw := &counter{r: r}
	z, err := gzip.NewReader(raw)
	if err != nil {
		return nil, raw.blame(err)
	}
	return &inflated{z, raw, 0, func() { z.Close() }}, nil
}

// Unzstd: see [Gunzip].
func Unzstd(r io.Reader) (io.ReadCloser, error) {
	raw := &counter{r: r}
	z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxWindow))
	if err != nil {
		return nil, raw.blame(err)
	}
	return &inflated{z, raw, 0, z.Close}, nil
}

// inflated ends with [ErrBomb] when it has become too much.
type inflated struct {
	r     io.Reader
	raw   *counter
	n     int64
	close func()
}

func (f *inflated) Read(p []byte) (int, error) {
	if f.n > FreeBytes+MaxRatio*f.raw.n {
		return 0, ErrBomb
	}
	n, err := f.r.Read(p)
	f.n += int64(n)
	return n, f.raw.blame(err)
}

func (f *inflated) Close() error {
	f.close()
	return nil
}
