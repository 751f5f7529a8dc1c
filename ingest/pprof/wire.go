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

// ErrProfile says that a file is no profile, or not one that can be read. Other
// errors are those of package damage.
var ErrProfile = errors.New("not a pprof profile")

// errField says that bytes are no field of a message.
var errField = fmt.Errorf("%w: not a field of a message", damage.ErrDamaged)

const (
	// maxMessage bounds a message within a profile: a sample of a hundred thousand
	// frames takes a tenth of it, and no name is so long.
	maxMessage = 16 << 20
	// window is how much is read at once.
	window = 64 << 10
	// maxHeader is how long the number and the length of a field may be.
	maxHeader = 2 * binary.MaxVarintLen64
)

// field is one field of a message.
type field struct {
	number int
	wire   int
	value  uint64 // of a varint
	bytes  []byte // of a message or string; it points into what was read
}

// fields reads the fields of a profile from a stream.
type fields struct {
	r    io.Reader // nil: all is in buf
	buf  []byte
	next int   // in buf
	off  int64 // of buf[0] in the file
	err  error // that ended reading
}

func newFields(r io.Reader) *fields { return &fields{r: r, buf: make([]byte, 0, window)} }

// offset is where the next field begins.
func (f *fields) offset() int64 { return f.off + int64(f.next) }

// read reads a field, whose bytes are valid until the next call. It returns io.EOF
// at the end, else a [damage.Error]: that of reading, or what is wrong here.
func (f *fields) read() (v field, err error) {
	begin := f.offset()
	f.want(maxHeader)
	if f.next == len(f.buf) && f.err == io.EOF {
		return v, io.EOF
	}
	v, n := parseHeader(f.buf[f.next:])
	if n <= 0 {
		return v, f.fail(begin, n)
	}
	if v.wire != profileproto.WireBytes {
		f.next += n
		return v, nil
	}
	if v.value > maxMessage {
		return v, &damage.Error{Off: begin, Err: fmt.Errorf("%w: a field of %d bytes, want at most %d", damage.ErrTooBig, v.value, maxMessage)}
	}
	size := n + int(v.value)
	if f.want(size); len(f.buf)-f.next < size {
		return v, f.fail(begin, 0)
	}
	v.bytes = f.buf[f.next+n : f.next+size]
	f.next += size
	return v, nil
}

// fail is the error of a field that can't be read: n is 0 if it goes on behind the
// end.
func (f *fields) fail(at int64, n int) error {
	switch {
	case n < 0:
		return &damage.Error{Off: at, Err: errField}
	case f.err != nil && f.err != io.EOF:
		return &damage.Error{Off: f.off + int64(len(f.buf)), Err: f.err}
	}
	return &damage.Error{Off: at, Err: damage.ErrTorn}
}

// want reads until so many bytes are there, or no more come. Memory grows with
// what came, not with what is said to come.
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

// parseHeader reads a field up to its bytes, whose number is its value. n is how
// long that is; 0 if there is more of it to come, below 0 if it is none.
func parseHeader(data []byte) (v field, n int) {
	if v, n = shortHeader(data); n > 0 {
		return v, n
	}
	tag, n := binary.Uvarint(data)
	if n <= 0 {
		return v, n
	}
	v.number, v.wire = int(min(tag>>3, 1<<29)), int(tag&7)
	if v.number == 0 {
		return v, -1
	}
	skip := 0
	switch v.wire {
	case profileproto.WireVarint, profileproto.WireBytes:
		var k int
		v.value, k = binary.Uvarint(data[n:])
		if k <= 0 {
			return v, k
		}
		return v, n + k
	case profileproto.WireFixed64:
		skip = 8
	case profileproto.WireFixed32:
		skip = 4
	default:
		return v, -1
	}
	if len(data) < n+skip {
		return v, 0
	}
	return v, n + skip
}

// shortHeader is parseHeader of what most fields are, as a tag of one byte and a
// number, or a length, of one or two: n is 0 for others.
func shortHeader(data []byte) (v field, n int) {
	if len(data) < 3 || data[0] < 8 || data[0]&(0x80|5) != 0 { // not 2, nor 0
		return v, 0
	}
	v.number, v.wire = int(data[0]>>3), int(data[0]&7)
	low, high := uint64(data[1]), uint64(data[2])
	switch {
	case low < 0x80:
		v.value = low
		return v, 2
	case high < 0x80:
		v.value = low&0x7f | high<<7
		return v, 3
	}
	return v, 0
}

// message reads the fields of a message that is in memory.
type message struct {
	rest []byte
	bad  bool // it is damaged; what comes before is intact
}

// read reads a field. It is not ok at the end of what is intact.
func (m *message) read() (v field, ok bool) {
	if len(m.rest) == 0 {
		return v, false
	}
	v, n := parseHeader(m.rest)
	if n <= 0 || v.wire == profileproto.WireBytes && v.value > uint64(len(m.rest)-n) {
		m.bad, m.rest = true, nil
		return v, false
	}
	m.rest = m.rest[n:]
	if v.wire == profileproto.WireBytes {
		v.bytes, m.rest = m.rest[:v.value], m.rest[v.value:]
	}
	return v, true
}

// numbers are the values of a message's fields that are numbers, by field.
type numbers [16]uint64

// read reads a message that has no other fields that count. It is not ok if the
// message is damaged; what comes before is intact.
func (n *numbers) read(body []byte) (ok bool) {
	m := message{rest: n.take(body)}
	for v, more := m.read(); more; v, more = m.read() {
		n.set(&v)
		m.rest = n.take(m.rest)
	}
	return !m.bad
}

// take reads fields as long as they are as most are: numbers that are not large. It
// returns the rest.
func (n *numbers) take(rest []byte) []byte {
	for len(rest) > 3 {
		tag, value, size := rest[0], uint64(rest[1]), 2
		if tag&(0x80|7) != profileproto.WireVarint || tag == 0 {
			break
		}
		if value >= 0x80 {
			value, size = value&0x7f|uint64(rest[2])<<7, 3
		}
		if value >= 1<<14 {
			value, size = value&(1<<14-1)|uint64(rest[3])<<14, 4
		}
		if value >= 1<<21 {
			break
		}
		n[tag>>3], rest = value, rest[size:]
	}
	return rest
}

// set notes a field, if it is a number.
func (n *numbers) set(v *field) {
	if v.number < len(n) && v.wire == profileproto.WireVarint {
		n[v.number] = v.value
	}
}

// numbers appends the numbers of a field that may have several, packed or not, as
// long as dst has fewer than most. It is not ok if there are more, or some are
// damaged.
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
