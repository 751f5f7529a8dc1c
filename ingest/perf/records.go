package perf

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"gprof/ingest/internal/damage"
)

// Kinds of records that perf adds to the kernel's.
const (
	recordAttr        = 64
	recordTracingData = 66
	recordBuildID     = 67
	recordRound       = 68
	recordAuxtrace    = 71
	recordFeature     = 80
	recordCompressed  = 81
	recordCompressed2 = 83
)

// miscIDSize is a bit of a build id's misc: it tells its size.
const miscIDSize = 1 << 15

// record is one of a file. Its body is valid until the next is read.
type record struct {
	at   int64
	kind uint32
	misc uint16
	body []byte
}

// records reads records one after the other.
type records struct {
	r    *bufio.Reader
	at   int64
	end  int64 // offset; -1: where the input ends
	pipe bool  // perf wrote to a pipe: tracing data lies between the records
	buf  []byte
}

// recordHead is of how many bytes a record is at least.
const recordHead = 8

// next reads a record. The error is io.EOF, an [*damage.Error], or that of reading.
func (r *records) next(rec *record) error {
	rec.at = r.at
	if r.end >= 0 && r.at >= r.end {
		return io.EOF
	}
	head, err := r.r.Peek(recordHead)
	if len(head) == 0 && err == io.EOF && r.end < 0 {
		return io.EOF
	} else if err != nil {
		return r.torn(err)
	}
	c := cursor{rest: head}
	rec.kind, rec.misc = c.u32(), c.u16()
	size := int(c.u16())
	if size < recordHead || r.end >= 0 && int64(size) > r.end-r.at {
		return &damage.Error{Off: r.at, Err: fmt.Errorf("%w: a record of %d bytes", damage.ErrDamaged, size)}
	}
	r.buf = append(r.buf[:0], make([]byte, size)...)
	if _, err := io.ReadFull(r.r, r.buf); err != nil {
		return r.torn(err)
	}
	r.at += int64(size)
	rec.body = r.buf[recordHead:]
	return r.skipData(rec)
}

// skipData skips what lies behind a record and is no record.
func (r *records) skipData(rec *record) error {
	c := cursor{rest: rec.body}
	var size uint64
	switch {
	case rec.kind == recordAuxtrace:
		size = c.u64()
	case rec.kind == recordTracingData && r.pipe:
		size = (uint64(c.u32()) + 7) &^ 7
	}
	if size == 0 {
		return nil
	}
	if size > 1<<40 {
		return &damage.Error{Off: rec.at, Err: fmt.Errorf("%w: data of %d bytes", damage.ErrDamaged, size)}
	}
	n, err := io.CopyN(io.Discard, r.r, int64(size))
	r.at += n
	if err != nil {
		return r.torn(err)
	}
	return nil
}

// torn is the error of a file that ends too early; others are those of reading.
func (r *records) torn(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return &damage.Error{Off: r.at, Err: damage.ErrTorn}
	}
	return err
}

// compressed returns what a record holds of the stream of compressed records.
func (rec *record) compressed() []byte {
	switch rec.kind {
	case recordCompressed:
		return rec.body
	case recordCompressed2:
		c := cursor{rest: rec.body}
		return c.take(c.u64())
	}
	return nil
}

// payload reads the stream of compressed records.
type payload struct {
	records *records
	rest    []byte
}

func (p *payload) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		var rec record
		if err := p.records.next(&rec); err != nil {
			return 0, io.EOF // it has been told already
		}
		p.rest = rec.compressed()
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// maxWindow is of how many bytes of what went before a compressed stream may make
// use: perf takes far less.
const maxWindow = 64 << 20

// unpack returns the records of the stream.
func unpack(from *records) (*records, *zstd.Decoder, error) {
	z, err := zstd.NewReader(&payload{records: from}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, nil, err
	}
	return &records{r: bufio.NewReaderSize(endless{z}, bufferSize), end: -1}, z, nil
}

// endless is a stream that perf does not end properly when it stops.
type endless struct{ io.Reader }

func (e endless) Read(b []byte) (int, error) {
	n, err := e.Reader.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
