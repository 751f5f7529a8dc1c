package perfetto

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// maxDepth is how deep JSON may be to be taken apart: Perfetto does what follows by recursion.
const maxDepth = 16

// appendText appends the value of an argument that is a text, or JSON, whose members become arguments below it. What is no JSON,
// or too deep, is a text. Perfetto has a field for JSON, but its trace processor ends at some values that it does not
// expect.
func appendText(dst []byte, typ stream.Type, text []byte) []byte {
	if typ == stream.JSON && json.Valid(text) {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if out, ok := appendJSON(dst, decoder, maxDepth); ok {
			return out
		}
	}
	return protobuf.AppendBytes(dst, pb.AnnotationString, cleanBytes(text))
}

// appendJSON appends the next value. It is not ok if that is too deep.
func appendJSON(dst []byte, d *json.Decoder, depth int) (out []byte, ok bool) {
	token, err := d.Token()
	if err != nil || depth == 0 {
		return dst, false
	}
	switch value := token.(type) {
	case json.Delim:
		return appendNested(dst, d, value, depth-1)
	case bool:
		bit := uint64(0)
		if value {
			bit = 1
		}
		return protobuf.AppendValue(dst, pb.AnnotationBool, bit), true
	case json.Number:
		if n, err := strconv.ParseInt(value.String(), 10, 64); err == nil {
			return protobuf.AppendValue(dst, pb.AnnotationInt, uint64(n)), true
		}
		f, _ := strconv.ParseFloat(value.String(), 64) // too large is infinite
		return appendFixed(dst, pb.AnnotationDouble, math.Float64bits(f)), true
	case string:
		return protobuf.AppendBytes(dst, pb.AnnotationString, clean(value)), true
	}
	return protobuf.AppendBytes(dst, pb.AnnotationString, "null"), true
}

// appendNested appends the members of an object, or the elements of a list, whose beginning was read.
func appendNested(dst []byte, d *json.Decoder, begin json.Delim, depth int) (out []byte, ok bool) {
	field := pb.AnnotationArray
	if begin == '{' {
		field = pb.AnnotationDict
	}
	for d.More() {
		var member []byte
		if begin == '{' {
			key, err := d.Token()
			if err != nil {
				return dst, false
			}
			member = protobuf.AppendBytes(nil, pb.AnnotationName, clean(key.(string)))
		}
		if member, ok = appendJSON(member, d, depth); !ok {
			return dst, false
		}
		dst = protobuf.AppendBytes(dst, field, member)
	}
	_, err := d.Token() // its end
	return dst, err == nil
}
