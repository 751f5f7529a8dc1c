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
	"strconv"
	"unicode/utf8"

	"gprof/rawformat/protobuf"
)

// AppendJSON appends a message as JSON. Fields of a later version are left out.
func (t Type) AppendJSON(dst, body []byte) []byte {
	dst = append(dst, '{')
	empty := true
	for i := range types[t] {
		f := &types[t][i]
		before := len(dst)
		dst = f.appendJSON(dst, body, empty)
		empty = empty && len(dst) == before
	}
	return append(dst, '}')
}

// appendJSON appends the values that a message has of a field.
func (f *Field) appendJSON(dst, body []byte, first bool) []byte {
	n := 0
	m := protobuf.Message{Rest: body}
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		if v.Number != f.Number {
			continue
		}
		if n == 0 {
			dst = f.begin(dst, first)
		} else if !f.Repeated {
			break
		}
		dst = f.appendValues(dst, v)
		n++
	}
	if n > 0 && f.Repeated {
		dst = append(dst, ']')
	}
	return dst
}

func (f *Field) begin(dst []byte, first bool) []byte {
	if !first {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, '"'), f.Name...), '"', ':')
	if f.Repeated {
		dst = append(dst, '[')
	}
	return dst
}

// appendValues appends a value, or packed ones.
func (f *Field) appendValues(dst []byte, v *protobuf.Field) []byte {
	if v.Wire != protobuf.Bytes {
		return f.appendNumber(f.next(dst), v.Value)
	}
	switch f.Kind {
	case Message:
		return f.Of.AppendJSON(f.next(dst), v.Bytes)
	case String:
		return AppendText(f.next(dst), v.Bytes)
	case ID:
		return append(hex.AppendEncode(append(f.next(dst), '"'), v.Bytes), '"')
	case Base64:
		return append(base64.StdEncoding.AppendEncode(append(f.next(dst), '"'), v.Bytes), '"')
	}
	for rest := v.Bytes; len(rest) > 0; {
		var n uint64
		n, rest = f.unpack(rest)
		dst = f.appendNumber(f.next(dst), n)
	}
	return dst
}

// AppendText appends a text as JSON.
func AppendText(dst, text []byte) []byte {
	quoted, _ := json.Marshal(string(text)) // which can't fail
	return append(dst, quoted...)
}

// next begins an element of a list.
func (f *Field) next(dst []byte) []byte {
	if !f.Repeated || dst[len(dst)-1] == '[' {
		return dst
	}
	return append(dst, ',')
}

// unpack takes the first of packed numbers; the rest is empty if they are damaged.
func (f *Field) unpack(packed []byte) (n uint64, rest []byte) {
	if f.Kind == Fixed || f.Kind == Double {
		if len(packed) < 8 {
			return 0, nil
		}
		return binary.LittleEndian.Uint64(packed), packed[8:]
	}
	n, size := binary.Uvarint(packed)
	if size <= 0 {
		return 0, nil
	}
	return n, packed[size:]
}

func (f *Field) appendNumber(dst []byte, n uint64) []byte {
	switch f.Kind {
	case Bool:
		return strconv.AppendBool(dst, n != 0)
	case Double:
		return appendDouble(dst, math.Float64frombits(n))
	case Int:
		return strconv.AppendInt(dst, int64(n), 10)
	case Long:
		return append(strconv.AppendInt(append(dst, '"'), int64(n), 10), '"')
	}
	return append(strconv.AppendUint(append(dst, '"'), n, 10), '"')
}

// appendDouble appends a number; JSON has texts for those that are none.
func appendDouble(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(dst, `"-Infinity"`...)
	}
	return strconv.AppendFloat(dst, x, 'g', -1, 64)
}

// ErrJSON says that JSON is not that of a message.
var ErrJSON = errors.New("not a message of OpenTelemetry's profiles")

// maxDepth bounds values within values.
const maxDepth = 32

// AppendProto appends the message that valid JSON is, and the number of fields that are of a later
// version, which are left out. The error is an [ErrJSON].
func (t Type) AppendProto(dst, text []byte) (body []byte, unknown int64, err error) {
	r := reader{text: text}
	dst = r.message(dst, t, 0)
	return dst, r.unknown, r.err
}

// reader reads JSON that is known to be valid.
type reader struct {
	text    []byte
	at      int
	unknown int64
	err     error // the first one
}

// fail keeps an error; nothing is read after it.
func (r *reader) fail(f *Field, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s is %.20q, want %s", ErrJSON, f.Name, r.text[min(r.at, len(r.text)):], want)
	}
	r.at = len(r.text)
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

// each calls for each element of a list or an object, whose first byte was taken.
func (r *reader) each(end byte, element func()) {
	for !r.take(end) && r.peek() != 0 {
		element()
		r.take(',')
	}
}

// message appends the message of an object.
func (r *reader) message(dst []byte, t Type, depth int) []byte {
	if !r.take('{') || depth > maxDepth {
		r.fail(&Field{Name: "a message"}, "an object, of at most 32 in each other")
		return dst
	}
	r.each('}', func() {
		f := t.byName(r.raw())
		r.take(':')
		if f != nil {
			dst = r.field(dst, f, depth)
		} else {
			r.unknown++
			r.skip()
		}
	})
	return dst
}

// field appends a field; null is none.
func (r *reader) field(dst []byte, f *Field, depth int) []byte {
	switch {
	case r.peek() == 'n':
		r.skip()
		return dst
	case !f.Repeated:
		return r.value(dst, f, depth)
	case !r.take('['):
		r.fail(f, "a list")
		return dst
	}
	if f.Kind > Double {
		r.each(']', func() { dst = r.value(dst, f, depth) })
		return dst
	}
	dst = protobuf.AppendTag(dst, f.Number, protobuf.Bytes)
	from := len(dst)
	r.each(']', func() {
		if n := r.number(f); f.Kind == Fixed || f.Kind == Double {
			dst = binary.LittleEndian.AppendUint64(dst, n)
		} else {
			dst = binary.AppendUvarint(dst, n)
		}
	})
	return withLength(dst, from)
}

// withLength puts before what follows from its length.
func withLength(dst []byte, from int) []byte {
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(dst)-from))
	dst = append(dst, length[:n]...)
	copy(dst[from+n:], dst[from:])
	copy(dst[from:], length[:n])
	return dst
}

// value appends a field with its value, even if that is the default: in an AnyValue it says of which
// type it is.
func (r *reader) value(dst []byte, f *Field, depth int) []byte {
	switch f.Kind {
	case Message:
		dst = protobuf.AppendTag(dst, f.Number, protobuf.Bytes)
		from := len(dst)
		return withLength(r.message(dst, f.Of, depth+1), from)
	case String:
		return protobuf.AppendBytes(dst, f.Number, r.textOf(f))
	case ID:
		id, err := hex.DecodeString(r.textOf(f))
		if err != nil {
			r.fail(f, "hexadecimal digits")
		}
		return protobuf.AppendBytes(dst, f.Number, id)
	case Base64:
		data, err := base64.StdEncoding.DecodeString(r.textOf(f))
		if err != nil {
			r.fail(f, "bytes in base64")
		}
		return protobuf.AppendBytes(dst, f.Number, data)
	case Fixed, Double:
		return binary.LittleEndian.AppendUint64(protobuf.AppendTag(dst, f.Number, protobuf.Fixed64), r.number(f))
	}
	return binary.AppendUvarint(protobuf.AppendTag(dst, f.Number, protobuf.Varint), r.number(f))
}

func (r *reader) textOf(f *Field) string {
	if r.peek() != '"' {
		r.fail(f, "a text")
		return ""
	}
	raw := r.raw()
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	json.Unmarshal(raw, &s) // which can't fail if the text is valid
	return s
}

// raw takes a value as it stands.
func (r *reader) raw() []byte {
	r.peek()
	from := r.at
	r.skip()
	return r.text[from:r.at]
}

// number takes a number, which may be a text.
func (r *reader) number(f *Field) uint64 {
	raw := r.raw()
	word := bytes.Trim(raw, `"`)
	if n, ok := digits(word); ok && f.Kind <= Fixed {
		return n
	}
	n, ok := parseNumber(f.Kind, string(word))
	if !ok {
		r.at -= len(raw)
		r.fail(f, "a number")
	}
	return n
}

// digits parses a number of a few digits, which most are.
func digits(word []byte) (n uint64, ok bool) {
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, len(word) > 0 && len(word) < 19
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

// skip skips a value of any type.
func (r *reader) skip() {
	r.peek()
	for depth := 0; r.at < len(r.text); {
		switch c := r.text[r.at]; c {
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
		case '"':
			r.skipString()
			continue
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return
			}
		}
		r.at++
		if depth == 0 && r.at < len(r.text) && (r.text[r.at-1] == '}' || r.text[r.at-1] == ']') {
			return
		}
	}
}

// skipString skips a text with its quotes.
func (r *reader) skipString() {
	for r.at++; r.at < len(r.text) && r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			r.at++
		}
	}
	r.at = min(r.at+1, len(r.text))
}
