package filter

import (
	"cmp"
	"slices"
	"unsafe"

	"gprof/stream"
)

// scope is what a span is a time of: of all, of a process, of a track, of a goroutine.
type scope struct {
	process stream.ProcessID
	of      scopeKind
	id      uint64
}

type scopeKind uint8

const (
	ofAll       scopeKind = iota
	ofProcess             // rows without a track
	ofWhole               // all of a process
	ofTrack               // rows without a goroutine: all spans of the track
	ofStranger            // rows with a goroutine: spans of the track without one
	ofGoroutine           // rows and spans of one goroutine, on whatever track
)

// span is a time of a scope, both ends included.
type span struct {
	scope    scope
	from, to stream.Time
}

func (s scope) compare(o scope) int {
	return cmp.Or(cmp.Compare(s.process, o.process), cmp.Compare(s.of, o.of), cmp.Compare(s.id, o.id))
}

// spanSet is a set of times by scope. Those that overlap are united, so that memory grows
// only with the number of separate times.
type spanSet struct {
	list   []span
	united int // how many were left after the last unite
}

// minUnite is the number of spans from which on they are united.
const minUnite = 1 << 12

func (s *spanSet) add(x span) {
	s.list = append(s.list, x)
	if len(s.list) >= minUnite+2*s.united {
		s.unite()
	}
}

// bytes is the memory of the list.
func (s *spanSet) bytes() int64 { return int64(cap(s.list)) * int64(unsafe.Sizeof(span{})) }

// unite sorts the spans and joins those that overlap or touch.
func (s *spanSet) unite() {
	slices.SortFunc(s.list, func(a, b span) int {
		return cmp.Or(a.scope.compare(b.scope), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	n := 0
	for _, x := range s.list {
		if n > 0 && s.list[n-1].scope == x.scope && x.from <= s.list[n-1].to {
			s.list[n-1].to = max(s.list[n-1].to, x.to)
			continue
		}
		s.list[n] = x
		n++
	}
	s.list, s.united = s.list[:n], n
}

// touches reports whether the time from from to to, both included, overlaps a span of the
// scope. The spans must be united.
func (s *spanSet) touches(of scope, from, to stream.Time) bool {
	// This finds the last span that begins no later than to; those before it end earlier.
	i, _ := slices.BinarySearchFunc(s.list, to, func(x span, to stream.Time) int {
		if c := x.scope.compare(of); c != 0 {
			return c
		}
		if x.from <= to {
			return -1
		}
		return 1
	})
	return i > 0 && s.list[i-1].scope == of && s.list[i-1].to >= from
}
