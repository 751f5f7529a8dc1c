package dedupe

import (
	"hash/maphash"
	"unsafe"
)

// Set interns comparable values. The zero Set is empty and ready to use.
//
// It keeps each value once: the table that finds them holds only ids, half the
// memory of a map of the values.
type Set[K comparable, ID ~int32] struct {
	rows  vector[K]
	table []ID // 0 free; its length is a power of two
	seed  maphash.Seed
	was   map[ID]K // identities of rows that were amended
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

// Lookup returns the id of k, 0 if k has not been seen.
func (s *Set[K, ID]) Lookup(k K) ID {
	_, id := s.find(k)
	return id
}

// LookupAll is Lookup of all keys, to as many ids. It takes a fraction of the time
// where the values don't lie in the processor's caches: it waits for many of them
// at once.
func (s *Set[K, ID]) LookupAll(keys []K, ids []ID) {
	s.guess(keys, ids)
	for i, k := range keys {
		if id := ids[i]; id != 0 && s.identity(id) != k {
			ids[i] = s.Lookup(k)
		}
	}
}

// guess returns of each key the id in the first slot where it may be; if there is
// none it has not been seen.
func (s *Set[K, ID]) guess(keys []K, ids []ID) {
	if s.table == nil {
		s.rehash()
	}
	table, seed := s.table, s.seed
	for i, k := range keys {
		ids[i] = table[int(maphash.Comparable(seed, k))&(len(table)-1)]
	}
}

// find returns the id of k, or 0 and the free slot for it.
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

// rehash puts all rows into a table with room for more.
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

// identity is what id was interned as.
func (s *Set[K, ID]) identity(id ID) K {
	if len(s.was) > 0 {
		if k, ok := s.was[id]; ok {
			return k
		}
	}
	return s.At(id)
}

// Amend replaces the value that At returns for id, for what becomes known later
// and is no part of the value's identity. Intern and Lookup still know it as it
// was.
func (s *Set[K, ID]) Amend(id ID, k K) {
	if s.was == nil {
		s.was = make(map[ID]K)
	}
	s.was[id] = s.identity(id)
	*s.rows.at(int(id - 1)) = k
}

// Map replaces every value by what f makes of it, for good: ids stay, and two
// values may become equal. Intern and Lookup know them as they are then.
func (s *Set[K, ID]) Map(f func(K) K) {
	for i := range s.rows.n {
		row := s.rows.at(i)
		*row = f(*row)
	}
	s.table, s.was = nil, nil
}

// At returns the value with that id; the id must have come from s.
func (s *Set[K, ID]) At(id ID) K { return *s.rows.at(int(id - 1)) }

// Len is the number of values, which is the highest id.
func (s *Set[K, ID]) Len() int { return s.rows.n }

// Bytes is about how much memory s takes, without what its values point to.
func (s *Set[K, ID]) Bytes() int64 {
	var k K
	return int64(s.rows.n)*int64(unsafe.Sizeof(k)) + 4*int64(len(s.table))
}
