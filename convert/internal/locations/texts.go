package locations

import "strings"

// Texts is a table of strings, numbered from 0, which is the empty one.
type Texts struct {
	numbers map[string]uint64
	list    []string
}

// Number returns the index of a string, made valid UTF-8 for strict readers. The empty string is 0.
func (t *Texts) Number(s string) uint64 {
	if t.numbers == nil {
		t.numbers, t.list = map[string]uint64{"": 0}, []string{""}
	}
	if n, ok := t.numbers[s]; ok {
		return n
	}
	n := uint64(len(t.list))
	t.numbers[s] = n
	t.list = append(t.list, strings.ToValidUTF8(s, "\ufffd"))
	return n
}

// All are the strings in the order of their numbers.
func (t *Texts) All() []string { return t.list }
