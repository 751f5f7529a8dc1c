package pprof

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"sync"

	"gprof/ingest/internal/messages"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
)

// Sniff reports whether head may begin a profile, which has no magic number: it must consist of
// plausible fields, one of them the type of a value, which writers put first.
func Sniff(head []byte) bool {
	typed := false
	for len(head) > 0 {
		tag, value, n := protobuf.ParseHeader(head)
		if n == 0 {
			break // the head ends here
		}
		var v protobuf.Field
		if v.Set(tag, value); n < 0 || !known(&v) || v.Wire == protobuf.Bytes && v.Value > messages.MaxField {
			return false
		}
		head = head[n:]
		if v.Wire != protobuf.Bytes {
			continue
		}
		if uint64(len(head)) < v.Value {
			break
		}
		body := head[:v.Value]
		head = head[v.Value:]
		if v.Number == profileproto.ProfileSampleType || v.Number == profileproto.ProfilePeriodType {
			if typed = plausibleType(body); !typed {
				return false
			}
		}
	}
	return typed
}

// plausibleType reports whether a message may be the type of a value: two string numbers.
func plausibleType(body []byte) bool {
	m := protobuf.Message{Rest: body}
	n := 0
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		if v.Number != profileproto.ValueType && v.Number != profileproto.ValueUnit || v.Wire != protobuf.Varint || v.Value > messages.MaxField {
			return false
		}
		n++
	}
	return !m.Bad && n > 0 && n <= 2
}

// legacy are the beginnings of the text formats that preceded profile.proto.
var legacy = []string{"heap profile: ", "heapz ", "--- heapz", "--- growthz", "--- contention", "--- mutex", "--- threadz", "--- Thread ", "--- Stack trace", "goroutine profile: total", "threadcreate profile: total"}

// SniffText reports whether a file begins as a profile in an old text format, such as /debug/pprof
// gives with debug=1.
func SniffText(head []byte) bool {
	return slices.ContainsFunc(legacy, func(text string) bool { return bytes.HasPrefix(head, []byte(text)) })
}

// SniffCPU reports whether a file begins as an old binary CPU profile, as gperftools still write
// it: words of 4 or 8 bytes in either order that are 0, 3, 0 (1: Java), the period in µs, and 0.
func SniffCPU(head []byte) bool {
	little, big := binary.ByteOrder(binary.LittleEndian), binary.ByteOrder(binary.BigEndian)
	return oldCPU(head, 8, little.Uint64) || oldCPU(head, 8, big.Uint64) ||
		oldCPU(head, 4, word(little)) || oldCPU(head, 4, word(big))
}

// word reads words of 4 bytes.
func word(o binary.ByteOrder) func([]byte) uint64 {
	return func(b []byte) uint64 { return uint64(o.Uint32(b)) }
}

// oldCPU reports whether a head of words of that size is an old CPU profile.
func oldCPU(head []byte, size int, read func([]byte) uint64) bool {
	if len(head) < 5*size {
		return false
	}
	var w [5]uint64
	for i := range w {
		w[i] = read(head[i*size:])
	}
	return w[0] == 0 && w[1] == 3 && w[2] <= 1 && w[3] > 0 && w[4] == 0
}

// dump matches the beginning of a goroutine dump, as /debug/pprof/goroutine gives it with debug=2;
// crashed programs add more.
var dump = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^goroutine \d+ (gp=\S+ m=\S+ (mp=\S+ )?)?\[`) })

// SniffDump reports whether a file begins as a goroutine dump.
func SniffDump(head []byte) bool { return dump().Match(head) }
