package decode

import (
	"gprof/rawformat"
	"gprof/stream"
)

const (
	// stacks looked up at once
	recognized = 512

	// steps after which few are left
	maxSteps = 8
)

// search looks up the stacks of a dictionary in the tables.
type search struct {
	pending []int                   // ids of stacks whose parents may become linked
	states  [recognized]searchState // by id
	of      []int                   // being looked up
	parents []stream.StackID
	frames  []stream.FrameID
	found   [recognized]stream.StackID
}

// searchState is the state of a stack that is not linked.
type searchState uint8

const (
	maybe  searchState = iota // unknown
	absent                    // not in the tables, unlike its parent
	behind                    // nor is its parent
)

// recognize links stacks that the tables have already, one step from roots to leaves at a time. At
// branches a step is a cache miss; looking up all branches at once overlaps these. That takes 5 to
// 10 % off reading a fleet.
func (l *linker) recognize(from, to int) {
	s := &l.search
	s.pending = s.pending[:0]
	for id := from; id < to; id++ {
		s.pending = append(s.pending, id)
	}
	s.states = [recognized]searchState{}
	for range maxSteps {
		if l.follow(from); len(s.of) == 0 {
			return
		}
		l.names.tables.Stacks.LookupAll(s.parents, s.frames, s.found[:len(s.of)])
		for i, id := range s.of {
			if s.found[i] != 0 {
				l.know(id, s.found[i])
			} else {
				s.states[id-from] = absent
			}
		}
	}
}

// follow links the pending stacks that are next to their parents in the tables, and collects the
// others whose parents are linked.
func (l *linker) follow(from int) {
	s, tables := &l.search, l.names.tables
	pending := s.pending
	s.pending, s.of, s.parents, s.frames = s.pending[:0], s.of[:0], s.parents[:0], s.frames[:0]
	for _, id := range pending {
		e := l.stacks.dense[id]
		if uint64(e.parent) >= uint64(id) {
			continue
		}
		deep, f := l.depth[e.parent], l.frame(uint64(e.frame))
		switch {
		case deep == 0 && int(e.parent) >= from && s.states[int(e.parent)-from] != maybe:
			s.states[id-from] = behind
		case deep == 0 && int(e.parent) >= from:
			s.pending = append(s.pending, id)
		case deep < rootDepth || deep >= rawformat.MaxStack || f <= 0: // add takes care of it
		default:
			parent := l.stacks.dense[e.parent].link().sid
			if l.names.adds(parent) {
				s.states[id-from] = behind
				continue
			}
			if next := tables.Stacks.Next(parent, stream.FrameID(f)); next != 0 {
				l.know(id, next)
				continue
			}
			s.of, s.parents, s.frames = append(s.of, id), append(s.parents, parent), append(s.frames, stream.FrameID(f))
		}
	}
}

// know links a stack to its parent, of which more than the root is known.
func (l *linker) know(id int, sid stream.StackID) {
	parent := l.stacks.dense[id].parent
	l.stacks.dense[id] = stackLink{sid, l.stacks.dense[parent].link().root}.edge()
	l.depth[id] = l.depth[parent] + 1
}
