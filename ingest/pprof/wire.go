package pprof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"gprof/ingest/internal/damage"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
)

// ErrProfile says that a file is no profile, or an unreadable one. Other errors are those of
// package damage.
var ErrProfile = errors.New("not a pprof profile")

var errField = fmt.Errorf("%w: not a field of a message", damage.ErrDamaged)

const (
	// maxMessage bounds a message in a profile: a sample of a hundred thousand frames takes a tenth
	// of it.
	maxMessage = 16 << 20
	// window is the size of a read.
	window = 64 << 10
	// maxHeader bounds the number and length of a field.
	maxHeader = 2 * binary.MaxVarintLen64
)

// fields reads the fields of a profile from a stream.
type fields struct {
	r     io.Reader // nil: all is in buf
	buf   []byte
	next  int            // in buf
	off   int64          // of buf[0] in the file
	err   error          // that ended reading
	field protobuf.Field // that was read last
}

func newFields(r io.Reader) *fields { return &fields{r: r, buf: make([]byte, 0, window)} }

// offset is where the next field begins.
func (f *fields) offset() int64 { return f.off + int64(f.next) }

// read reads a field, which is valid until the next call. It returns io.EOF at the end, else a
// [damage.Error].
func (f *fields) read() (v *protobuf.Field, err error) {
	begin := f.offset()
	f.want(maxHeader)
	tag, value, n := protobuf.ParseHeader(f.buf[f.next:])
	if n <= 0 && f.next == len(f.buf) && f.err == io.EOF {
		return nil, io.EOF
	}
	if n <= 0 {
		return nil, f.fail(begin, n)
	}
	v = &f.field
	v.Set(tag, value)
	if v.Wire != protobuf.Bytes {
		f.next += n
		return v, nil
	}
	if value > maxMessage {
		return nil, &damage.Error{Off: begin, Err: fmt.Errorf("%w: a field of %d bytes, want at most %d", damage.ErrTooBig, value, maxMessage)}
	}
	size := n + int(value)
	if f.want(size); len(f.buf)-f.next < size {
		return nil, f.fail(begin, 0)
	}
	v.Bytes = f.buf[f.next+n : f.next+size]
	f.next += size
	return v, nil
}

// fail is the error of an unreadable field: n is 0 if it is cut short.
func (f *fields) fail(at int64, n int) error {
	switch {
	case n < 0:
		return &damage.Error{Off: at, Err: errField}
	case f.err != nil && f.err != io.EOF:
		return &damage.Error{Off: f.off + int64(len(f.buf)), Err: f.err}
	}
	return &damage.Error{Off: at, Err: damage.ErrTorn}
}

// want reads until n bytes are there, or no more come. Memory grows with what came, not with what a
// length says.
func (f *fields) want(n int) {
	if len(f.buf)-f.next >= n || f.err != nil {
		return
	}
	if f.r == nil {
		f.err = io.EOF
		return
	}
	f.off += int64(f.next)
	f.buf = f.buf[:copy(f.buf[:cap(f.buf)], f.buf[f.next:])]
	f.next = 0
	for len(f.buf) < n && f.err == nil {
		if len(f.buf) == cap(f.buf) {
			f.buf = slices.Grow(f.buf, len(f.buf))
		}
		k, err := f.r.Read(f.buf[len(f.buf):cap(f.buf)])
		f.buf, f.err = f.buf[:len(f.buf)+k], err
	}
}

// fieldWires are the wire types that a field of a profile may have, as bits.
var fieldWires = [...]uint8{
	profileproto.ProfileSampleType: 1 << protobuf.Bytes, profileproto.ProfileSample: 1 << protobuf.Bytes, profileproto.ProfileMapping: 1 << protobuf.Bytes, profileproto.ProfileLocation: 1 << protobuf.Bytes,
	profileproto.ProfileFunction: 1 << protobuf.Bytes, profileproto.ProfileString: 1 << protobuf.Bytes, profileproto.ProfileDrop: 1 << protobuf.Varint, profileproto.ProfileKeep: 1 << protobuf.Varint,
	profileproto.ProfileTime: 1 << protobuf.Varint, profileproto.ProfileDuration: 1 << protobuf.Varint, profileproto.ProfilePeriodType: 1 << protobuf.Bytes, profileproto.ProfilePeriod: 1 << protobuf.Varint,
	profileproto.ProfileComment: 1<<protobuf.Varint | 1<<protobuf.Bytes, profileproto.ProfileDefaultType: 1 << protobuf.Varint, profileproto.ProfileDoc: 1 << protobuf.Varint,
}

// known reports whether this is a field of a profile, with a valid wire type.
func known(v *protobuf.Field) bool {
	return v.Number < len(fieldWires) && fieldWires[v.Number]>>v.Wire&1 != 0
}
