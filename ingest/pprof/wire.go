package pprof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"gprof/ingest/internal/damage"
	"gprof/rawformat/profileproto"
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

// field is a field of a message.
type field struct {
	number int
	wire   int
	value  uint64 // of a varint
	bytes  []byte // of a message or string, within what was read
}

// set takes the beginning of a field; a number that is too large is above that of all fields.
func (v *field) set(tag, value uint64) {
	v.number, v.wire, v.value, v.bytes = int(min(tag>>3, 1<<29)), int(tag&7), value, nil
}

// fields reads the fields of a profile from a stream.
type fields struct {
	r     io.Reader // nil: all is in buf
	buf   []byte
	next  int   // in buf
	off   int64 // of buf[0] in the file
	err   error // that ended reading
	field field // that was read last
}

func newFields(r io.Reader) *fields { return &fields{r: r, buf: make([]byte, 0, window)} }

// offset is where the next field begins.
func (f *fields) offset() int64 { return f.off + int64(f.next) }

// read reads a field, which is valid until the next call. It returns io.EOF at the end, else a
// [damage.Error].
func (f *fields) read() (v *field, err error) {
	begin := f.offset()
	f.want(maxHeader)
	tag, value, n := parseHeader(f.buf[f.next:])
	if n <= 0 && f.next == len(f.buf) && f.err == io.EOF {
		return nil, io.EOF
	}
	if n <= 0 {
		return nil, f.fail(begin, n)
	}
	v = &f.field
	v.set(tag, value)
	if v.wire != profileproto.WireBytes {
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
	v.bytes = f.buf[f.next+n : f.next+size]
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

// parseHeader parses a field up to its bytes, whose number is its value. n is its length; 0 if it
// is cut short, below 0 if it is malformed. Most fields have a tag of one byte, for a number or
// bytes, and a value of one or two, which take the fast path.
func parseHeader(data []byte) (tag, value uint64, n int) {
	if len(data) < 3 || data[0]&(0x80|5) != 0 || data[0] < 8 {
		return parseLongHeader(data)
	}
	if data[1] < 0x80 {
		return uint64(data[0]), uint64(data[1]), 2
	}
	if data[2] < 0x80 {
		return uint64(data[0]), uint64(data[1])&0x7f | uint64(data[2])<<7, 3
	}
	return parseLongHeader(data)
}

func parseLongHeader(data []byte) (tag, value uint64, n int) {
	tag, n = binary.Uvarint(data)
	if n <= 0 {
		return 0, 0, n
	}
	if tag>>3 == 0 {
		return 0, 0, -1
	}
	skip := 0
	switch tag & 7 {
	case profileproto.WireVarint, profileproto.WireBytes:
		value, k := binary.Uvarint(data[n:])
		if k <= 0 {
			return 0, 0, k
		}
		return tag, value, n + k
	case profileproto.WireFixed64:
		skip = 8
	case profileproto.WireFixed32:
		skip = 4
	default:
		return 0, 0, -1
	}
	if len(data) < n+skip {
		return 0, 0, 0
	}
	return tag, 0, n + skip
}

// message reads the fields of a message in memory.
type message struct {
	rest  []byte
	bad   bool  // it is damaged; what comes before is intact
	field field // that was read last
}

// read reads a field, which is valid until the next call. It is not ok at the end of what is
// intact.
func (m *message) read() (v *field, ok bool) {
	if len(m.rest) == 0 {
		return nil, false
	}
	tag, value, n := parseHeader(m.rest)
	bytes := tag&7 == profileproto.WireBytes
	if n <= 0 || bytes && value > uint64(len(m.rest)-n) {
		m.bad, m.rest = true, nil
		return nil, false
	}
	m.field.set(tag, value)
	m.rest = m.rest[n:]
	if bytes {
		m.field.bytes, m.rest = m.rest[:value], m.rest[value:]
	}
	return &m.field, true
}

// numbers are the numeric fields of a message.
type numbers [16]uint64

// read parses a message. It is not ok if that is damaged; what comes before is intact.
func (n *numbers) read(body []byte) (ok bool) {
	m := message{rest: body}
	for v, more := m.read(); more; v, more = m.read() {
		n.set(v)
	}
	return !m.bad
}

func (n *numbers) set(v *field) {
	if v.number < len(n) && v.wire == profileproto.WireVarint {
		n[v.number] = v.value
	}
}

// numbers appends the numbers of a repeated field, packed or not, up to most. It is not ok if there
// are more, or some are damaged.
func (v *field) numbers(dst []uint64, most int) (out []uint64, ok bool) {
	if v.wire == profileproto.WireVarint && len(dst) < most {
		return append(dst, v.value), true
	}
	for rest := v.bytes; len(rest) > 0; {
		n, k := uint64(rest[0]), 1
		if n >= 0x80 {
			n, k = binary.Uvarint(rest)
		}
		if k <= 0 || len(dst) >= most {
			return dst, false
		}
		dst, rest = append(dst, n), rest[k:]
	}
	return dst, v.wire == profileproto.WireBytes
}

// fieldWires are the wire types that a field of a profile may have, as bits.
var fieldWires = [...]uint8{
	profileproto.ProfileSampleType: 1 << profileproto.WireBytes, profileproto.ProfileSample: 1 << profileproto.WireBytes, profileproto.ProfileMapping: 1 << profileproto.WireBytes, profileproto.ProfileLocation: 1 << profileproto.WireBytes,
	profileproto.ProfileFunction: 1 << profileproto.WireBytes, profileproto.ProfileString: 1 << profileproto.WireBytes, profileproto.ProfileDrop: 1 << profileproto.WireVarint, profileproto.ProfileKeep: 1 << profileproto.WireVarint,
	profileproto.ProfileTime: 1 << profileproto.WireVarint, profileproto.ProfileDuration: 1 << profileproto.WireVarint, profileproto.ProfilePeriodType: 1 << profileproto.WireBytes, profileproto.ProfilePeriod: 1 << profileproto.WireVarint,
	profileproto.ProfileComment: 1<<profileproto.WireVarint | 1<<profileproto.WireBytes, profileproto.ProfileDefaultType: 1 << profileproto.WireVarint, profileproto.ProfileDoc: 1 << profileproto.WireVarint,
}

// known reports whether this is a field of a profile, with a valid wire type.
func (v *field) known() bool {
	return v.number < len(fieldWires) && fieldWires[v.number]>>v.wire&1 != 0
}
