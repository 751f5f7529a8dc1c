package stream

import (
	"sync"

	"gprof/dedupe"
)

// TrackSet interns tracks, as [dedupe.Set] does. It has a lock of its own: who takes rows of many small processes comes
// upon tracks all the time, and would wait for whoever holds the tables to add thousands of stacks. That lock may be taken
// by one who holds the tables, not the other way round.
type TrackSet struct {
	mu  sync.Mutex
	set dedupe.Set[Track, TrackID]
}

// Use calls use with the set, which nobody else uses meanwhile.
func (s *TrackSet) Use(use func(*dedupe.Set[Track, TrackID])) {
	s.mu.Lock()
	defer s.mu.Unlock()
	use(&s.set)
}

// Intern returns the id of k, a new one if k has not been seen.
func (s *TrackSet) Intern(k Track) TrackID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set.Intern(k)
}

// At returns the track of an id of s.
func (s *TrackSet) At(id TrackID) Track {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set.At(id)
}

// Len is the number of tracks, and the highest id.
func (s *TrackSet) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set.Len()
}

// Bytes is the approximate memory of s, without names.
func (s *TrackSet) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set.Bytes()
}

// Amend is that of [dedupe.Set].
func (s *TrackSet) Amend(id TrackID, k Track) {
	s.Use(func(set *dedupe.Set[Track, TrackID]) { set.Amend(id, k) })
}

// Map is that of [dedupe.Set].
func (s *TrackSet) Map(f func(Track) Track) {
	s.Use(func(set *dedupe.Set[Track, TrackID]) { set.Map(f) })
}
