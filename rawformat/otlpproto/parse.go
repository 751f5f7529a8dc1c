package otlpproto

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"gprof/rawformat/protobuf"
)

// ErrJSON says that a text is not JSON, or not that of a message. It is in an [OffsetError].
var ErrJSON = errors.New("not a message of OpenTelemetry's profiles")

// OffsetError says where in a text an error is.
type OffsetError struct {
	Off int
	Err error
}

// Error implements error.
func (e *OffsetError) Error() string { return e.Err.Error() }

// Unwrap returns the error without its place.
func (e *OffsetError) Unwrap() error { return e.Err }

// maxDepth bounds values within values.
const maxDepth = 32

// AppendProto appends the message that a text is, and the number of fields that are of a later version, which are left out. Of their values
// only the brackets and quotes are looked at. The error is an [OffsetError].
func (t Type) AppendProto(dst, text []byte) (body []byte, unknown int64, err error) {
	r := reader{text: text}
	dst = r.message(dst, t, 0)
	return dst, r.unknown, r.end()
}

// AppendProto appends the field whose value, or list of packed numbers, a text begins with, which are n bytes. Else it is as
// [Type.AppendProto].
func (f *Field) AppendProto(dst, text []byte) (body []byte, n int, unknown int64, err error) {
	r := reader{text: text}
	if f.Repeated && f.Kind <= Double {
		dst = r.field(dst, f, 0)
	} else {
		dst = r.value(dst, f, 0)
	}
	return dst, r.at, r.unknown, r.err
}

// reader reads JSON.
type reader struct {
	text    []byte
	at      int
	unknown int64
	err     error // the first one
}

// fail keeps an error; nothing is read after it.
func (r *reader) fail(what, want string) {
	if r.err == nil {
		at := min(r.at, len(r.text))
		r.err = &OffsetError{at, fmt.Errorf("%w: %s is %.20q, want %s", ErrJSON, what, r.text[at:], want)}
	}
	r.at = len(r.text)
}

// end is the error, also if something follows.
func (r *reader) end() error {
	if r.err == nil && r.peek() != 0 {
		r.fail("the end", "no more")
	}
	return r.err
}

// peek is the next byte that is no space, 0 at the end.
func (r *reader) peek() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take takes the next byte if it is c.
func (r *reader) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.at++
	return true
}

// first reports whether a list or an object, whose first byte was taken, has something in it; next, whether more follows.
func (r *reader) first(end byte) bool { return !r.take(end) && r.err == nil }

func (r *reader) next(end byte) bool {
	switch {
	case r.take(','):
		return true
	case !r.take(end):
		r.fail("what follows a value", "a comma or a bracket")
	}
	return false
}

// message appends the message of an object.
func (r *reader) message(dst []byte, t Type, depth int) []byte {
	if !r.take('{') || depth > maxDepth {
		r.fail("a message", "an object, of at most 32 in each other")
		return dst
	}
	for more := r.first('}'); more; more = r.next('}') {
		if r.peek() != '"' {
			r.fail("the name of a field", "a text")
			break
		}
		f := t.byName(r.raw())
		if !r.take(':') {
			r.fail("what follows a name", "a colon")
			break
		}
		if f != nil {
			dst = r.field(dst, f, depth)
		} else {
			r.unknown++
			r.raw()
		}
	}
	return dst
}

// field appends a field; null is none.
func (r *reader) field(dst []byte, f *Field, depth int) []byte {
	switch {
	case r.peek() == 'n':
		if string(r.raw()) != "null" {
			r.fail(f.Name, "a value")
		}
		return dst
	case !f.Repeated:
		return r.value(dst, f, depth)
	case !r.take('['):
		r.fail(f.Name, "a list")
		return dst
	}
	if f.Kind > Double {
		for more := r.first(']'); more; more = r.next(']') {
			dst = r.value(dst, f, depth)
		}
		return dst
	}
	dst, from := begin(dst, f)
	for more := r.first(']'); more; more = r.next(']') {
		if n := r.number(f); f.Kind == Fixed || f.Kind == Double {
			dst = binary.LittleEndian.AppendUint64(dst, n)
		} else {
			dst = binary.AppendUvarint(dst, n)
		}
	}
	return withLength(dst, from)
}

// begin begins a field with a length, of which there is room for one byte before from.
func begin(dst []byte, f *Field) (with []byte, from int) {
	dst = append(protobuf.AppendTag(dst, f.Number, protobuf.Bytes), 0)
	return dst, len(dst)
}

// withLength sets the length of what follows from from on.
func withLength(dst []byte, from int) []byte {
	n := len(dst) - from
	if n < 0x80 {
		dst[from-1] = byte(n)
		return dst
	}
	var length [binary.MaxVarintLen64]byte
	return slices.Replace(dst, from-1, from, length[:binary.PutUvarint(length[:], uint64(n))]...)
}

// value appends a field with its value, even if that is the default: in an AnyValue it says of which
// type it is.
func (r *reader) value(dst []byte, f *Field, depth int) []byte {
	switch f.Kind {
	case Message:
		dst, from := begin(dst, f)
		return withLength(r.message(dst, f.Of, depth+1), from)
	case String:
		return protobuf.AppendBytes(dst, f.Number, r.textOf(f))
	case ID:
		id, err := hex.DecodeString(string(r.textOf(f)))
		if err != nil {
			r.fail(f.Name, "hexadecimal digits")
		}
		return protobuf.AppendBytes(dst, f.Number, id)
	case Base64:
		data, err := base64.StdEncoding.DecodeString(string(r.textOf(f)))
		if err != nil {
			r.fail(f.Name, "bytes in base64")
		}
		return protobuf.AppendBytes(dst, f.Number, data)
	case Fixed, Double:
		return binary.LittleEndian.AppendUint64(protobuf.AppendTag(dst, f.Number, protobuf.Fixed64), r.number(f))
	}
	return binary.AppendUvarint(protobuf.AppendTag(dst, f.Number, protobuf.Varint), r.number(f))
}

func (r *reader) textOf(f *Field) []byte {
	if r.peek() != '"' {
		r.fail(f.Name, "a text")
		return nil
	}
	raw := r.raw()
	if len(raw) < 2 {
		return nil // it failed
	}
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return raw[1 : len(raw)-1]
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		r.fail(f.Name, "a text of JSON")
	}
	return []byte(s)
}

// raw takes a value as it stands; nil if there is none.
func (r *reader) raw() []byte {
	r.peek()
	from := r.at
	if r.skip(); r.err != nil {
		return nil
	}
	return r.text[from:r.at]
}

// number takes a number, which may be a text.
func (r *reader) number(f *Field) uint64 {
	quoted := r.peek() == '"'
	from, at, n := r.at, r.at, uint64(0)
	if quoted {
		at++
	}
	first := at
	for ; at < len(r.text) && r.text[at]-'0' <= 9; at++ {
		n = n*10 + uint64(r.text[at]-'0')
	}
	if size := at - first; size > 0 && size < 20 && f.Kind <= Fixed && (n <= math.MaxInt64 || f.Kind >= Ulong) && at < len(r.text) {
		if c := r.text[at]; quoted && c == '"' {
			r.at = at + 1
			return n
		} else if !quoted && !isWord(c) {
			r.at = at
			return n
		}
	}
	raw := r.raw()
	n, ok := parseNumber(f.Kind, string(bytes.Trim(raw, `"`)))
	if !ok {
		r.at = from
		r.fail(f.Name, "a number")
	}
	return n
}

// parseNumber parses a number or a bool as it is in a message.
func parseNumber(k Kind, word string) (n uint64, ok bool) {
	switch k {
	case Bool:
		if word == "true" {
			return 1, true
		}
		return 0, word == "false"
	case Double:
		x, err := strconv.ParseFloat(word, 64)
		return math.Float64bits(x), err == nil
	case Ulong, Fixed:
		n, err := strconv.ParseUint(word, 10, 64)
		return n, err == nil
	}
	if i, err := strconv.ParseInt(word, 10, 64); err == nil {
		return uint64(i), true
	}
	x, err := strconv.ParseFloat(word, 64) // such as 1e3
	return uint64(int64(x)), err == nil && x == math.Trunc(x) && math.Abs(x) < 1<<53
}

// isWord reports whether a byte is one of numbers, true, false and null.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// skip skips a value of any type.
func (r *reader) skip() {
	switch c := r.peek(); {
	case c == '"':
		r.skipString()
	case c == '{', c == '[':
		r.skipNested()
	case isWord(c):
		for r.at < len(r.text) && isWord(r.text[r.at]) {
			r.at++
		}
	default:
		r.fail("a value", "one of JSON")
	}
}

func (r *reader) skipNested() {
	for depth := 0; r.at < len(r.text); {
		switch r.text[r.at] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			r.skipString()
			continue
		}
		if r.at++; depth == 0 {
			return
		}
	}
	r.fail("a value", "its end")
}

// skipString skips a text with its quotes.
func (r *reader) skipString() {
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '"':
			r.at++
			return
		case '\\':
			r.at++
		}
	}
	r.fail("a text", "its end")
}
