package stream

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
	"strings"
)

// LabelSet is a set of labels that a program has given its work, as by runtime/pprof:
// each key once, in order. Sets with the same labels are equal.
type LabelSet struct {
	text string // the key and the value of each label, each preceded by its length
}

// NewLabelSet returns the set of some labels. Of several labels with one key the first is
// taken.
func NewLabelSet(labels ...Attr) LabelSet {
	sorted := slices.Clone(labels)
	slices.SortStableFunc(sorted, func(a, b Attr) int { return cmp.Compare(a.Key, b.Key) })
	sorted = slices.CompactFunc(sorted, func(a, b Attr) bool { return a.Key == b.Key })
	var text []byte
	for _, l := range sorted {
		text = appendTexts(text, l.Key, l.Value)
	}
	return LabelSet{string(text)}
}

// All gives keys and values in the order of the keys.
func (s LabelSet) All() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for rest := s.text; rest != ""; {
			var key, value string
			key, rest = cutText(rest)
			value, rest = cutText(rest)
			if !yield(key, value) {
				return
			}
		}
	}
}

// cutText cuts the first text off those that appendTexts joined.
func cutText(joined string) (text, rest string) {
	var size, shift uint64
	for {
		c := joined[0]
		size, joined = size|uint64(c&0x7f)<<shift, joined[1:]
		if c < 0x80 {
			return joined[:size], joined[size:]
		}
		shift += 7
	}
}

// Get is the value of a key, "" if there is none.
func (s LabelSet) Get(key string) string {
	for k, v := range s.All() {
		if k == key {
			return v
		}
	}
	return ""
}

// String is the set for people: "customer=anna route=/cart".
func (s LabelSet) String() string {
	var all []string
	for k, v := range s.All() {
		all = append(all, k+"="+v)
	}
	return strings.Join(all, " ")
}

// Compare orders sets by their labels.
func (s LabelSet) Compare(o LabelSet) int { return strings.Compare(s.text, o.text) }

// MapValues returns the set with each value replaced by the result of f.
func (s LabelSet) MapValues(f func(key, value string) string) LabelSet {
	text := make([]byte, 0, len(s.text)+binary.MaxVarintLen64)
	for k, v := range s.All() {
		text = appendTexts(text, k, f(k, v))
	}
	return LabelSet{string(text)}
}
