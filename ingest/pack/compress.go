package pack

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"gprof/rawformat"
)

// encoder turns raw bytes into stored ones. It is for one goroutine.
type encoder struct {
	zstd *zstd.Encoder
	buf  []byte
}

func newEncoder() *encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic("internal error: " + err.Error()) // of options that don't fit together
	}
	return &encoder{zstd: z}
}

// encode returns the stored form of raw. It is valid until the next call.
func (e *encoder) encode(kind sectionType, raw []byte) (encoding, []byte) {
	e.buf = e.zstd.EncodeAll(raw, e.buf[:0])
	if len(e.buf) >= len(raw) {
		return encodingRaw, raw
	}
	return encodingZstd, e.buf
}

// decoder is the inverse of an encoder. It is for many goroutines.
type decoder struct{ zstd *zstd.Decoder }

func newDecoder() *decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return &decoder{z}
}

// decode stores the raw form of a section in dst, which has its size. The
// checksum of the stored bytes was not verified: they may be anything.
func (d *decoder) decode(dst []byte, h *header, stored []byte) error {
	if checksum(stored) != h.storedCRC {
		return rawformat.ErrChecksum
	}
	var raw []byte
	var err error
	switch h.encoding {
	case encodingRaw:
		raw = dst[:copy(dst, stored)]
	case encodingZstd:
		raw, err = d.zstd.DecodeAll(stored, dst[:0:len(dst)])
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", rawformat.ErrSyntax, err)
	case len(raw) != len(dst) || len(raw) > 0 && &raw[0] != &dst[0]:
		return fmt.Errorf("%w: %d bytes instead of %d", rawformat.ErrSyntax, len(raw), len(dst))
	case checksum(raw) != h.rawCRC:
		return fmt.Errorf("%w: of the raw bytes", rawformat.ErrChecksum)
	}
	return nil
}
