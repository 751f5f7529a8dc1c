package calls

import "gprof/stream"

// findOuter walks the tree of stacks and notes those that have no caller with
// the same key.
func (s *Sums) findOuter() {
	first, next := s.callees()
	open := make([]int32, len(s.at)) // by Key: how many stacks on the path have it
	s.outer = make([]bool, len(s.self))
	s.outer[0] = true
	for at := first[0]; at != 0; {
		key := s.key(at)
		s.outer[at] = open[key] == 0
		open[key]++
		if first[at] != 0 {
			at = first[at]
			continue
		}
		for at != 0 && next[at] == 0 {
			open[s.key(at)]--
			at, _ = s.tables.Stacks.At(at)
		}
		if at != 0 {
			open[s.key(at)]--
			at = next[at]
		}
	}
}

// callees returns the first callee of each stack, and the next one of the same
// caller.
func (s *Sums) callees() (first, next []stream.StackID) {
	n := s.tables.Stacks.Len()
	first, next = make([]stream.StackID, n+1), make([]stream.StackID, n+1)
	for id := stream.StackID(n); id > 0; id-- {
		caller, _ := s.tables.Stacks.At(id)
		next[id], first[caller] = first[caller], id
	}
	return first, next
}
