// Package dedupe interns values: equal ones get one small id, from 1 in the order in
// which they came. [Set] is for comparable values, [Texts] for strings, [Tree] for
// paths such as stacks. Id 0 stands for no value. [Recent] shares memory without ids.
package dedupe

import (
	"hash/maphash"
	"unsafe"
)

// Set interns comparable values. The zero Set is empty and ready to use. It stores each value once:
// its hash table holds only ids, half the memory of a map.
type Set[K comparable, ID ~int32] struct {
	rows  vector[K]
	table []ID // 0: free; its length is a power of two
	seed  maphash.Seed
	was   map[ID]K // original values of amended rows
}

// Intern returns the id of k, a new one if k has not been seen.
func (s *Set[K, ID]) Intern(k K) ID {
	i, id := s.find(k)
	if id != 0 {
		return id
	}
	s.rows.push(k)
	s.table[i] = ID(s.rows.n)
	return ID(s.rows.n)
}

// Append adds a value that is not in s, without looking. The next lookup makes the table of all.
func (s *Set[K, ID]) Append(k K) ID {
	s.rows.push(k)
	s.table = nil
	return ID(s.rows.n)
}

// Lookup returns the id of k, 0 if k has not been seen.
func (s *Set[K, ID]) Lookup(k K) ID {
	_, id := s.find(k)
	return id
}

// Guess returns the id that is most likely that of k, if k has been seen; 0 if it has not. It reads
// no value, so a loop of it does not wait for memory.
func (s *Set[K, ID]) Guess(k K) ID {
	if s.table == nil {
		return 0
	}
	return s.table[int(maphash.Comparable(s.seed, k))&(len(s.table)-1)]
}

// find returns the id of k, or 0 and a free slot.
func (s *Set[K, ID]) find(k K) (slot int, id ID) {
	if full(s.rows.n+1, len(s.table)) {
		s.rehash()
	}
	mask := len(s.table) - 1
	for i := int(maphash.Comparable(s.seed, k)) & mask; ; i = (i + 1) & mask {
		if id := s.table[i]; id == 0 || s.identity(id) == k {
			return i, id
		}
	}
}

// rehash makes a larger table of all rows.
func (s *Set[K, ID]) rehash() {
	if s.table == nil {
		s.seed = maphash.MakeSeed()
	}
	s.table = make([]ID, slotsFor(s.rows.n+1))
	mask := len(s.table) - 1
	for id := 1; id <= s.rows.n; id++ {
		i := int(maphash.Comparable(s.seed, s.identity(ID(id)))) & mask
		for s.table[i] != 0 {
			i = (i + 1) & mask
		}
		s.table[i] = ID(id)
	}
}

// identity is the value that id was interned as.
func (s *Set[K, ID]) identity(id ID) K {
	if len(s.was) > 0 {
		if k, ok := s.was[id]; ok {
			return k
		}
	}
	return s.At(id)
}

// Amend replaces the value that At returns for id by one that has more than its identity. Intern
// and Lookup still know the original.
func (s *Set[K, ID]) Amend(id ID, k K) {
	if s.was == nil {
		s.was = make(map[ID]K)
	}
	s.was[id] = s.identity(id)
	*s.rows.at(int(id - 1)) = k
}

// Map replaces every value by f's for good: ids stay, and values may become equal. Intern and
// Lookup know the new ones.
func (s *Set[K, ID]) Map(f func(K) K) {
	for i := range s.rows.n {
		row := s.rows.at(i)
		*row = f(*row)
	}
	s.table, s.was = nil, nil
}

// At returns the value of an id of s.
func (s *Set[K, ID]) At(id ID) K { return *s.rows.at(int(id - 1)) }

// Len is the number of values, and the highest id.
func (s *Set[K, ID]) Len() int { return s.rows.n }

// Bytes is the approximate memory of s, without what its values point to.
func (s *Set[K, ID]) Bytes() int64 {
	var k K
	return int64(s.rows.n)*int64(unsafe.Sizeof(k)) + 4*int64(len(s.table))
}

// Texts interns strings. The zero Texts is empty and ready to use.
type Texts[ID ~int32] struct {
	set  Set[string, ID]
	size int64 // of all strings
}

// Intern returns the id of s; the empty string has the id 0.
func (t *Texts[ID]) Intern(s string) ID {
	if s == "" {
		return 0
	}
	seen := t.set.Len()
	id := t.set.Intern(s)
	if int(id) > seen {
		t.size += int64(len(s))
	}
	return id
}

// Append adds a string that is not in t, nor empty, without looking. The next lookup makes the table
// of all.
func (t *Texts[ID]) Append(s string) ID {
	t.size += int64(len(s))
	return t.set.Append(s)
}

// InternBytes is Intern of string(b); it allocates only for a new string.
func (t *Texts[ID]) InternBytes(b []byte) ID {
	if len(b) == 0 {
		return 0
	}
	// The string is not kept.
	if id := t.set.Lookup(unsafe.String(&b[0], len(b))); id != 0 {
		return id
	}
	return t.Intern(string(b))
}

// At returns the string with that id, "" for 0.
func (t *Texts[ID]) At(id ID) string {
	if id == 0 {
		return ""
	}
	return t.set.At(id)
}

// Len is the number of strings, and the highest id.
func (t *Texts[ID]) Len() int { return t.set.Len() }

// Bytes is the approximate memory of t, TextBytes that of the strings alone.
func (t *Texts[ID]) Bytes() int64 { return t.set.Bytes() + t.size }

func (t *Texts[ID]) TextBytes() int64 { return t.size }
