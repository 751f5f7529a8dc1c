package stream

import "math/bits"

// marks are ids that rows refer to, a bit for each. Those of a goroutine are its own, so that no others wait for it.
type marks []uint64

// mark notes ids.
func mark[ID ~int32](m marks, what string, ids []ID) (marks, error) {
	for _, id := range ids {
		at := int(id) >> 6
		if uint(at) >= uint(len(m)) {
			if id < 0 {
				return m, undefined(what, int32(id), 64*len(m))
			}
			m = append(m, make(marks, at+1-len(m))...)
		}
		m[at] |= 1 << (id & 63)
	}
	return m, nil
}

// addTo sets the bits of all marks.
func (m marks) addTo(all marks) marks {
	if n := len(m) - len(all); n > 0 {
		all = append(all, make(marks, n)...)
	}
	for i, word := range m {
		all[i] |= word
	}
	return all
}

// list is whether each id is marked, up to the highest one that is.
func (m marks) list() []bool {
	if len(m) == 0 {
		return nil
	}
	all := make([]bool, 64*len(m)-bits.LeadingZeros64(m[len(m)-1]))
	for i := range all {
		all[i] = m[i>>6]>>(i&63)&1 != 0
	}
	return all
}
