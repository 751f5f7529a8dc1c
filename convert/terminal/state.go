package terminal

import (
	"cmp"
	"regexp"
	"slices"

	"gprof/convert/internal/course"
	"gprof/stream"
)

// state is what a person has chosen, and what follows from it.
type state struct {
	run *Run
	choice
	basis    int // in Run.bases
	root     int32
	selected int32
	query    string
	typing   bool // the query is being typed
	help     bool

	totals   []int64
	children map[int32][]int32
	matches  []bool // by node; nil: nothing is searched
	found    int64  // weight of matching nodes, each once
	wrong    string // what is wrong with the query
}

func newState(r *Run) *state {
	s := &state{run: r, choice: choice{to: course.Slots}}
	s.update()
	return s
}

// of is the basis that is shown, nil if there is none.
func (s *state) of() *basis {
	if len(s.run.bases) == 0 {
		return nil
	}
	return s.run.bases[s.basis]
}

// update sums up anew.
func (s *state) update() {
	s.totals = make([]int64, len(s.run.tree.Parent))
	if b := s.of(); b != nil {
		s.totals = s.run.totals(b, s.choice)
	}
	s.children, _ = s.run.tree.Children(s.totals, 1, len(s.run.tree.Parent)+1)
	for s.root != 0 && s.totals[s.root] == 0 {
		s.root = s.run.tree.Parent[s.root]
	}
	for s.selected != s.root && (s.totals[s.selected] == 0 || !s.below(s.selected, s.root)) {
		s.selected = s.run.tree.Parent[s.selected]
		if s.selected == 0 {
			s.selected = s.root
		}
	}
	s.search()
}

func (s *state) below(node, root int32) bool {
	for node > root {
		node = s.run.tree.Parent[node]
	}
	return node == root
}

func (s *state) name(node int32) string {
	if node == 0 {
		return "all"
	}
	return s.run.tree.Frames[s.run.tree.Frame[node]].Name
}

// search finds the nodes whose name matches.
func (s *state) search() {
	s.matches, s.found, s.wrong = nil, 0, ""
	if s.query == "" {
		return
	}
	pattern, err := regexp.Compile("(?i)" + s.query)
	if err != nil {
		s.wrong = "no regular expression"
		return
	}
	frames := make([]bool, len(s.run.tree.Frames))
	for i := 1; i < len(frames); i++ {
		frames[i] = pattern.MatchString(s.run.tree.Frames[i].Name)
	}
	s.matches = make([]bool, len(s.totals))
	inside := make([]bool, len(s.totals)) // the node or a caller matches
	for node := 1; node < len(s.totals); node++ {
		parent := s.run.tree.Parent[node]
		s.matches[node] = frames[s.run.tree.Frame[node]] && s.totals[node] > 0
		if inside[node] = inside[parent] || s.matches[node]; s.matches[node] && !inside[parent] {
			s.found += s.totals[node]
		}
	}
}

// selectMatch selects the next lighter node that matches after one, or the heaviest after one that does not match.
func (s *state) selectMatch(after int32) {
	var all []int32
	for node, is := range s.matches {
		if is {
			all = append(all, int32(node))
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(s.totals[b], s.totals[a]) })
	s.root, s.selected = 0, all[(slices.Index(all, after)+1)%len(all)]
}

// move selects a caller, callee or neighbour.
func (s *state) move(up, right int) {
	switch {
	case up > 0 && s.selected != s.root:
		s.selected = s.run.tree.Parent[s.selected]
	case up < 0:
		if list := s.children[s.selected]; len(list) > 0 {
			s.selected = list[0]
		}
	case right != 0 && s.selected != s.root:
		list := s.children[s.run.tree.Parent[s.selected]]
		at := slices.Index(list, s.selected) + right
		s.selected = list[max(0, min(at, len(list)-1))]
	}
}

// zoom makes the selected node the root, or goes back to its caller.
func (s *state) zoom(in bool) {
	if in {
		s.root = s.selected
	} else if s.root != 0 {
		s.root = s.run.tree.Parent[s.root]
	}
}

// nextProcess goes through the processes and all of them.
func (s *state) nextProcess(by int) {
	n := len(s.run.tables.Processes) + 1
	s.process = stream.ProcessID((int(s.process) + by + n) % n)
	s.update()
}

func (s *state) nextBasis() {
	if n := len(s.run.bases); n > 0 {
		s.basis = (s.basis + 1) % n
		s.update()
	}
}

// leastSlots is the shortest time that can be chosen.
const leastSlots = 4

// span makes the time that is shown half or twice as long, around its middle.
func (s *state) span(shorter bool) {
	length := s.to - s.from
	middle := s.from + length/2
	if shorter {
		length = max(length/2, leastSlots)
	} else {
		length = min(length*2, course.Slots)
	}
	s.place(middle-length/2, length)
}

// shift moves the time that is shown by a quarter of its length.
func (s *state) shift(by int) {
	length := s.to - s.from
	s.place(s.from+by*max(1, length/4), length)
}

func (s *state) place(from, length int) {
	s.from = max(0, min(from, course.Slots-length))
	s.to = s.from + length
	s.update()
}

// at is the time of a slot's beginning.
func (s *state) at(slot int) stream.Time {
	a := &s.run.axis
	return min(a.Start+stream.Time(uint64(slot)*a.Width), a.End)
}
