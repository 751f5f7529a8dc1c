package pprof

import (
	"bytes"
	"regexp"
	"slices"

	"gprof/rawformat/profileproto"
)

// Sniff reports whether a file that begins so may be a profile, which has no magic
// number: its head must be fields of a profile, all of them plausible, and one
// of them the type of a value, which writers put in front.
func Sniff(head []byte) bool {
	typed := false
	for len(head) > 0 {
		tag, value, n := parseHeader(head)
		if n == 0 {
			break // the head ends here
		}
		var v field
		if v.set(tag, value); n < 0 || !v.known() || v.wire == profileproto.WireBytes && v.value > maxMessage {
			return false
		}
		head = head[n:]
		if v.wire != profileproto.WireBytes {
			continue
		}
		if uint64(len(head)) < v.value {
			break
		}
		body := head[:v.value]
		head = head[v.value:]
		if v.number == profileproto.ProfileSampleType || v.number == profileproto.ProfilePeriodType {
			if typed = plausibleType(body); !typed {
				return false
			}
		}
	}
	return typed
}

// plausibleType reports whether a message may be the type of a value: two numbers
// of strings.
func plausibleType(body []byte) bool {
	m := message{rest: body}
	n := 0
	for v, ok := m.read(); ok; v, ok = m.read() {
		if v.number != profileproto.ValueType && v.number != profileproto.ValueUnit || v.wire != profileproto.WireVarint || v.value > maxMessage {
			return false
		}
		n++
	}
	return !m.bad && n > 0 && n <= 2
}

// legacy is how the text forms begin that profiles had before profile.proto.
var legacy = []string{"heap profile: ", "heapz ", "--- heapz", "--- growthz", "--- contention", "--- mutex", "--- Stack trace", "goroutine profile: total", "threadcreate profile: total"}

// SniffText reports whether a file begins as a profile in one of the old text
// forms, such as those that /debug/pprof gives with debug=1.
func SniffText(head []byte) bool {
	return slices.ContainsFunc(legacy, func(text string) bool { return bytes.HasPrefix(head, []byte(text)) })
}

// dump is how a text of goroutines begins that /debug/pprof/goroutine gives with
// debug=2; those of programs that crashed say more in front.
var dump = regexp.MustCompile(`^goroutine \d+ (gp=\S+ m=\S+ (mp=\S+ )?)?\[`)

// SniffDump reports whether a file begins as such a text.
func SniffDump(head []byte) bool { return dump.Match(head) }
