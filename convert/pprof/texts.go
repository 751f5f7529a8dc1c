package pprof

import "strings"

// texts is the table of strings, by the numbers by which messages refer to
// them.
type texts struct {
	numbers map[string]uint64
	list    []string
}

// number returns that of a string, which is made valid: readers in some
// languages refuse what is not UTF-8. The empty string is 0.
func (t *texts) number(s string) uint64 {
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
