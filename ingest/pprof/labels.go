package pprof

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// labels turns the labels of the samples of a file into whose they are. The same
// ones come again and again.
type labels struct {
	from *texts
	to   *Pool

	known map[string]whose // by their messages
	raw   []byte           // the messages of the sample that is read, each behind its length
	list  []stream.Attr

	heap      bool  // the samples are of allocations
	undefined int64 // names that are not there
}

// whose a sample is: a goroutine's, 0 unknown, with labels.
type whose struct {
	goroutine int64
	labels    labelsID
}

const (
	goroutineKey = "goroutine" // its number is a goroutine
	sizeKey      = "bytes"     // of allocations: how large the objects are, which bytes and objects tell as well
)

// maxKnown bounds how many sets are known at a time: labels may hold what is
// different each time.
const maxKnown = 1 << 14

// reset makes l ready for another file.
func (l *labels) reset(from *texts, to *Pool, heap bool) {
	*l = labels{from: from, to: to, raw: l.raw[:0], list: l.list[:0], heap: heap}
}

func (l *labels) begin() { l.raw = l.raw[:0] }

// add adds the message of a label.
func (l *labels) add(body []byte) {
	l.raw = binary.AppendUvarint(l.raw, uint64(len(body)))
	l.raw = append(l.raw, body...)
}

// who is whose the sample is.
func (l *labels) who() whose {
	if len(l.raw) == 0 {
		return whose{}
	}
	if w, ok := l.known[string(l.raw)]; ok {
		return w
	}
	if l.known == nil || len(l.known) == maxKnown {
		l.known = make(map[string]whose)
	}
	w := l.parse()
	l.known[string(l.raw)] = w
	return w
}

func (l *labels) parse() (w whose) {
	l.list = l.list[:0]
	for rest := l.raw; len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		l.label(rest[n:n+int(size)], &w)
		rest = rest[n+int(size):]
	}
	if len(l.list) > 0 {
		w.labels = l.to.labels.Intern(stream.NewLabelSet(joinValues(l.list)...))
	}
	return w
}

// joinValues makes several values of one key one text, in place: a sample's label may be
// a list, ours are not.
func joinValues(list []stream.Attr) []stream.Attr {
	slices.SortStableFunc(list, func(a, b stream.Attr) int { return cmp.Compare(a.Key, b.Key) })
	joined := list[:0]
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Key == list[0].Key {
			n++
		}
		one := list[0]
		if n > 1 {
			one.Value = joinedValue(list[:n])
		}
		joined, list = append(joined, one), list[n:]
	}
	return joined
}

func joinedValue(list []stream.Attr) string {
	var values []string
	for _, a := range list {
		values = append(values, a.Value)
	}
	return strings.Join(values, ", ")
}

// label reads one label.
func (l *labels) label(body []byte, w *whose) {
	var n numbers
	n.read(body)
	key, text, unit := n[profileproto.LabelKey], n[profileproto.LabelText], n[profileproto.LabelUnit]
	number := int64(n[profileproto.LabelNumber])
	attr := stream.Attr{Key: l.text(key), Value: l.text(text)}
	if attr.Key == goroutineKey && text == 0 && unit == 0 && number > 0 && number < math.MaxInt64 {
		w.goroutine = number
		return
	}
	if l.heap && attr.Key == sizeKey && text == 0 {
		return
	}
	if text == 0 {
		attr.Value = withUnit(number, l.text(unit))
	}
	l.list = append(l.list, attr)
}

// withUnit is a number and its unit, if it has one.
func withUnit(n int64, unit string) string {
	s := strconv.FormatInt(n, 10)
	if unit != "" {
		s += " " + unit
	}
	return s
}

func (l *labels) text(n uint64) string {
	s, ok := l.from.get(n)
	if !ok && n != 0 {
		l.undefined++
	}
	return string(s)
}
