package compare

// Part is the set of some processes of s, by their numbers from 0, in that order. It shares what does not change
// with s.
func (s *Set) Part(processes []int) *Set {
	part := *s
	part.processes = make([]process, len(processes))
	for i, p := range processes {
		part.processes[i] = s.processes[p]
	}
	return &part
}

// Instances are those of the processes of s.
func (s *Set) Instances() (all []uint64) {
	for i := range s.processes {
		all = append(all, s.processes[i].instance)
	}
	return all
}

// Paired are the pairs that were compared, as [Options] has them, in the order in which they were recorded.
func (r *Report) Paired() (all [][2]int) {
	for _, p := range r.pairs {
		all = append(all, [2]int{p.base, p.new})
	}
	return all
}
