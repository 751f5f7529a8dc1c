package otlp

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"sync"
	"unicode/utf8"

	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
)

// Sniff reports whether head may begin a file as protobuf, which has no magic number: it must consist of plausible
// fields, one of them in a message of a resource or of the dictionary.
func Sniff(head []byte) bool { return plain(head) || isPrefixed(head) }

// plain is Sniff for a file that is one message.
func plain(head []byte) bool {
	s := sniffer{}
	return s.plausible(otlpproto.Data, head, false, 0) && s.evidence
}

// prefixBytes is the size of the length before each message, which the collector writes as a number whose first byte is the highest.
const prefixBytes = 4

// isPrefixed reports whether head may begin a file of messages with their lengths before them.
func isPrefixed(head []byte) bool {
	return len(head) > prefixBytes && !plain(head) && plain(head[prefixBytes:min(len(head), prefixBytes+int(binary.BigEndian.Uint32(head)))])
}

// begin matches the beginning of a file as JSON.
var begin = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\{\s*"(resourceProfiles|resource_profiles|dictionary)"\s*:\s*[\[{]`)
})

// SniffJSON reports whether head begins a file as JSON.
func SniffJSON(head []byte) bool { return begin().Match(head) }

type sniffer struct{ evidence bool }

// maxSniffed bounds how deep messages are in each other.
const maxSniffed = 8

// plausible reports whether a message may be of a type. It is cut short if it isn't whole.
func (s *sniffer) plausible(typ otlpproto.Type, message []byte, whole bool, depth int) bool {
	for len(message) > 0 {
		tag, value, n := protobuf.ParseHeader(message)
		if n == 0 {
			return !whole
		}
		var v protobuf.Field
		if v.Set(tag, value); n < 0 {
			return false
		}
		f := typ.ByNumber(v.Number)
		if f == nil || !f.Has(v.Wire) {
			return false
		}
		s.evidence = s.evidence || depth > 0
		message = message[n:]
		if v.Wire != protobuf.Bytes {
			continue
		}
		if value > uint64(len(message)) && whole {
			return false
		}
		inner := message[:min(value, uint64(len(message)))]
		if !s.bytes(f, inner, uint64(len(inner)) == value, depth) {
			return false
		}
		message = message[len(inner):]
	}
	return true
}

func (s *sniffer) bytes(f *otlpproto.Field, inner []byte, whole bool, depth int) bool {
	switch f.Kind {
	case otlpproto.Message:
		return depth == maxSniffed || s.plausible(f.Of, inner, whole, depth+1)
	case otlpproto.String:
		return !whole || utf8.Valid(inner)
	}
	return true
}

// isJSON reports whether a file is JSON.
func isJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && head[0] == '{'
}
