package stream

import (
	"sync"

	"gprof/dedupe"
)

type trackSet = dedupe.Set[Track, TrackID]

// TrackSet interns tracks, as [dedupe.Set] does. It has a lock of its own: a worker that takes rows of many small
// processes interns tracks all the time, and would wait for another one that holds the tables to add thousands of stacks.
// The lock may be taken while the tables are held, but not the other way round.
type TrackSet struct {
	mu  sync.Mutex
	set trackSet
}

// Use calls use with the set, which nobody else uses meanwhile.
func (s *TrackSet) Use(use func(*trackSet)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	use(&s.set)
}

// Intern returns the id of k, a new one if k has not been seen.
func (s *TrackSet) Intern(k Track) (id TrackID) {
	s.Use(func(set *trackSet) { id = set.Intern(k) })
	return id
}

// At returns the track of an id of s.
func (s *TrackSet) At(id TrackID) (k Track) {
	s.Use(func(set *trackSet) { k = set.At(id) })
	return k
}

// Len is the number of tracks, and the highest id.
func (s *TrackSet) Len() (n int) {
	s.Use(func(set *trackSet) { n = set.Len() })
	return n
}

// Bytes is the approximate memory of s, without names.
func (s *TrackSet) Bytes() (n int64) {
	s.Use(func(set *trackSet) { n = set.Bytes() })
	return n
}

// Amend is that of [dedupe.Set].
func (s *TrackSet) Amend(id TrackID, k Track) { s.Use(func(set *trackSet) { set.Amend(id, k) }) }

// Map is that of [dedupe.Set].
func (s *TrackSet) Map(f func(Track) Track) { s.Use(func(set *trackSet) { set.Map(f) }) }
