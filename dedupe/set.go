// Package dedupe interns values: equal values get one small, stable id.
//
// Ids are dense from 1 in the order in which values were first seen; 0 is
// "none". Equality is that of the whole value, never of a hash. An interner is
// for one goroutine.
package dedupe

// Set interns comparable values. The zero Set is empty and ready to use.
type Set[K comparable, ID ~int32] struct {
	ids  map[K]ID
	rows []K
}

// Intern returns the id of k, a new one if k has not been seen.
func (s *Set[K, ID]) Intern(k K) ID {
	if id, ok := s.ids[k]; ok {
		return id
	}
	if s.ids == nil {
		s.ids = make(map[K]ID)
	}
	s.rows = append(s.rows, k)
	id := ID(len(s.rows))
	s.ids[k] = id
	return id
}

// Lookup returns the id of k, 0 if k has not been seen.
func (s *Set[K, ID]) Lookup(k K) ID { return s.ids[k] }

// At returns the value with that id; the id must have come from s.
func (s *Set[K, ID]) At(id ID) K { return s.rows[id-1] }

// Len is the number of values, which is the highest id.
func (s *Set[K, ID]) Len() int { return len(s.rows) }

// Amend replaces the value that At returns for id, for what becomes known later
// and is no part of the value's identity. Intern and Lookup still know it as it
// was.
func (s *Set[K, ID]) Amend(id ID, k K) { s.rows[id-1] = k }
