package pack

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/fse"
	"github.com/klauspost/compress/zstd"

	"gprof/chunks/sections"
	"gprof/rawformat"
)

// encoder encodes sections. It is for one goroutine.
type encoder struct {
	zstd     *zstd.Encoder
	splitter splitter
	planes   [maxPlanes][]byte
	plane    []byte
	fse      fse.Scratch
	stored   []byte // of a segment
	buf      []byte
	check    *decoder
	checked  []byte
}

func newEncoder() *encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithAllLitEntropyCompression(true))
	if err != nil {
		panic("internal error: " + err.Error()) // of options that don't fit together
	}
	return &encoder{zstd: z, check: newDecoder()}
}

// encode returns the stored form of raw, valid until the next call.
func (e *encoder) encode(kind sections.Kind, raw []byte) (sections.Encoding, []byte) {
	if e.columns(kind, raw) {
		return sections.Columns, e.buf
	}
	e.buf = e.zstd.EncodeAll(raw, e.buf[:0])
	if len(e.buf) >= len(raw) {
		return sections.Raw, raw
	}
	return sections.Zstd, e.buf
}

// columns splits raw into columns in e.buf. It is false if they are not worth it, or for whatever
// reason don't give the same bytes again.
func (e *encoder) columns(kind sections.Kind, raw []byte) bool {
	e.buf = e.buf[:0]
	s := &e.splitter
	switch kind {
	case sections.Chunk:
		s.reset()
		return s.chunk(raw) && e.segment(raw, nil) && len(e.buf) < len(raw)
	case sections.Dict:
		h, err := rawformat.ReadRecordHeader(raw)
		if err != nil {
			return false
		}
		for at := 0; at < len(raw); {
			s.reset()
			end := s.dict(raw, &h, at)
			if !e.segment(raw[at:end], raw[:at]) {
				return false
			}
			at = end
		}
		return len(e.buf) < len(raw)
	}
	return false
}

// segment appends the columns of a segment, and verifies that they give its bytes. before are the
// preceding bytes of the file.
func (e *encoder) segment(raw, before []byte) bool {
	e.stored = e.appendColumns(e.stored[:0], &e.splitter)
	e.buf = rawformat.AppendUint(rawformat.AppendUint(e.buf, uint64(len(raw))), uint64(len(e.stored)))
	e.buf = append(e.buf, e.stored...)
	e.checked = slices.Grow(e.checked[:0], len(raw))[:len(raw)]
	return e.check.segment(e.checked, e.stored, before) == nil && bytes.Equal(e.checked, raw)
}

// decoder is the inverse of an encoder. It is for concurrent use.
type decoder struct {
	zstd    *zstd.Decoder
	readers sync.Pool // of *columnReader
}

func newDecoder() *decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return &decoder{zstd: z}
}

// decode decodes a section into dst, which has the right size. The stored bytes are not trusted.
func (d *decoder) decode(dst []byte, h *sections.Header, stored []byte) error {
	if sections.Checksum(stored) != h.StoredCRC {
		return rawformat.ErrChecksum
	}
	var raw []byte
	var err error
	switch h.Encoding {
	case sections.Raw:
		raw = dst[:copy(dst, stored)]
	case sections.Zstd:
		raw, err = d.zstd.DecodeAll(stored, dst[:0:len(dst)])
	case sections.Columns:
		raw, err = dst, d.join(dst, stored)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", rawformat.ErrSyntax, err)
	case len(raw) != len(dst) || len(raw) > 0 && &raw[0] != &dst[0]:
		return fmt.Errorf("%w: %d bytes instead of %d", rawformat.ErrSyntax, len(raw), len(dst))
	case sections.Checksum(raw) != h.RawCRC:
		return fmt.Errorf("%w: of the raw bytes", rawformat.ErrChecksum)
	}
	return nil
}
