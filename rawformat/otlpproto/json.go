package otlpproto

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"

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
	if isPlain(text) {
		return append(append(append(dst, '"'), text...), '"')
	}
	quoted, _ := json.Marshal(string(text)) // which can't fail
	return append(dst, quoted...)
}

// isPlain reports whether a text stands for itself in JSON, as most do.
func isPlain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
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
