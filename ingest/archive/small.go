package archive

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"

	"gprof/ingest/archive/internal/inflate"
)

// Limits of a file that is unpacked at once.
const (
	maxSmall         = 2 << 20
	maxSmallUnpacked = 8 << 20
)

// small is a gzip file that is unpacked at once.
type small struct {
	packed, unpacked []byte
	decoder          inflate.Decoder
}

// GunzipSmall is [Unpacker.Gunzip] in half the time if the stream is small and intact, but reads all of it first: it is
// for files. Others are left to Gunzip from their beginning.
func (u *Unpacker) GunzipSmall(r io.Reader) (io.ReadCloser, error) {
	s, ok := u.smalls.Get().(*small)
	if !ok {
		s = new(small)
	}
	raw := &errReader{r: r}
	err := s.read(raw)
	if err == io.EOF {
		if text, ok := s.unpack(); ok {
			return u.inflated(bytes.NewReader(text), raw, func() { u.smalls.Put(s) }), nil
		}
	}
	begun := io.MultiReader(bytes.NewReader(s.packed), &rest{r, err}) // s is not used again
	return u.Gunzip(begun)
}

// rest is what follows in a stream, unless it has ended.
type rest struct {
	r   io.Reader
	err error
}

func (r *rest) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.r.Read(p)
}

// read reads a stream up to its end or an error; there is none if it is not small.
func (s *small) read(r io.Reader) (err error) {
	s.packed = s.packed[:0]
	for err == nil && len(s.packed) <= maxSmall {
		s.packed = slices.Grow(s.packed, 64<<10)
		var n int
		n, err = r.Read(s.packed[len(s.packed):cap(s.packed)])
		s.packed = s.packed[:len(s.packed)+n]
	}
	return err
}

// Parts of a gzip file, which is of one member mostly: RFC 1952.
const (
	gzipHeader  = 10
	gzipName    = 8 // flag
	gzipTrailer = 8
	maxGzipName = 255
	// maxDeflate is to how many times its size deflate can unpack.
	maxDeflate = 1032
)

// unpack unpacks what was read. It is not ok if that is damaged, large, or of a rare kind.
func (s *small) unpack() (text []byte, ok bool) {
	in := s.packed
	if len(in) < gzipHeader || !IsGzip(in) || in[3]&^gzipName != 0 {
		return nil, false
	}
	named := in[3] == gzipName
	in = in[gzipHeader:]
	if named {
		end := bytes.IndexByte(in[:min(len(in), maxGzipName)], 0)
		if in = in[end+1:]; end < 0 {
			return nil, false
		}
	}
	if len(in) < gzipTrailer {
		return nil, false
	}
	trailer := in[len(in)-gzipTrailer:]
	size := int64(binary.LittleEndian.Uint32(trailer[4:]))
	if size > min(maxSmallUnpacked, maxDeflate*int64(len(in))) {
		return nil, false
	}
	s.unpacked = slices.Grow(s.unpacked[:0], int(size)+inflate.Slack)
	read, made, ok := s.decoder.Decode(s.unpacked[:int(size)+inflate.Slack], in)
	text = s.unpacked[:made]
	if !ok || int64(made) != size || read != len(in)-gzipTrailer || crc32.ChecksumIEEE(text) != binary.LittleEndian.Uint32(trailer) {
		return nil, false
	}
	return text, true
}
