package archive

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// IsGzip and IsZstd recognize a compressed stream.
func IsGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}) }

// IsZstd: see [IsGzip]. A skippable frame may come first, as from several parallel compressors.
func IsZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// Unpacker unpacks the streams of a run, within its budget and the limits of an archive. It reuses
// gzip decoders: profiles come by the thousand. The zero Unpacker is ready for concurrent use.
type Unpacker struct {
	Budget
	idle   sync.Pool // of *gzip.Reader
	smalls sync.Pool // of *small
}

// Gunzip unpacks a stream. The result must be closed, which does not close r.
func (u *Unpacker) Gunzip(r io.Reader) (io.ReadCloser, error) {
	z, ok := u.idle.Get().(*gzip.Reader)
	if !ok {
		z = new(gzip.Reader)
	}
	raw := &errReader{r: r}
	if err := z.Reset(raw); err != nil {
		return nil, raw.blame(err)
	}
	return u.inflated(z, raw, func() { u.idle.Put(z) }), nil
}

// Unzstd is [Unpacker.Gunzip] for zstd.
func (u *Unpacker) Unzstd(r io.Reader) (io.ReadCloser, error) {
	raw := &errReader{r: r}
	z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxWindow))
	if err != nil {
		return nil, raw.blame(err)
	}
	return u.inflated(z, raw, z.Close), nil
}

func (u *Unpacker) inflated(r io.Reader, raw *errReader, release func()) *unpackedStream {
	return &unpackedStream{boundedReader: boundedReader{r, &allowance{budget: &u.Budget}}, raw: raw, release: release}
}

// unpackedStream is a stream being unpacked. Closing it returns its decoder.
type unpackedStream struct {
	boundedReader
	raw     *errReader
	release func() // nil: closed
}

func (f *unpackedStream) Read(p []byte) (int, error) {
	if f.release == nil {
		return 0, io.ErrClosedPipe
	}
	f.see(f.raw.n)
	n, err := f.boundedReader.Read(p)
	if err == ErrBomb {
		return n, err
	}
	return n, f.raw.blame(err)
}

func (f *unpackedStream) Close() error {
	if f.release != nil {
		f.release()
		f.release = nil
	}
	return nil
}

// Budget bounds what all inputs of a run unpack to. It is for concurrent use. The zero Budget is
// ready to use.
type Budget struct{ packed, unpacked atomic.Int64 }

// runBytes may be unpacked in a run; beyond that MaxRatio times the size of its inputs, as for each
// archive.
const runBytes = 1 << 30

// zeroShare is the weight of a run of zeros, 1/zeroShare: most of a ring may be unused, and is
// unpacked without being read.
const zeroShare = 4

// Spent reports whether the inputs have unpacked to more than a run may.
func (b *Budget) Spent() bool { return b.unpacked.Load() > runBytes+MaxRatio*b.packed.Load() }

// Take counts an archive of packed bytes that unpacks to so many, most of which may be zeros.
func (b *Budget) Take(packed, unpacked int64) error {
	m := allowance{budget: b}
	m.see(packed)
	return m.take(unpacked / zeroShare)
}

// allowance is what one archive may unpack to.
type allowance struct {
	budget           *Budget
	packed, unpacked int64
}

// see counts bytes of the archive.
func (a *allowance) see(packed int64) {
	a.budget.packed.Add(packed - a.packed)
	a.packed = packed
}

// take counts unpacked bytes.
func (a *allowance) take(n int64) error {
	a.unpacked += n
	a.budget.unpacked.Add(n)
	if a.unpacked > FreeBytes+MaxRatio*a.packed || a.budget.Spent() {
		return ErrBomb
	}
	return nil
}

// boundedReader ends a stream with [ErrBomb] when it unpacks to too much.
type boundedReader struct {
	r io.Reader
	*allowance
}

func (a *boundedReader) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if bomb := a.take(weigh(p[:n])); bomb != nil {
		return n, bomb
	}
	return n, err
}

// weigh is how many bytes p counts as.
func weigh(p []byte) int64 {
	if bytes.Count(p, []byte{0}) == len(p) {
		return int64(len(p)) / zeroShare
	}
	return int64(len(p))
}
