package decode

import (
	"gprof/rawformat"
	"gprof/stream"
)

const (
	// recognized is how many stacks are looked for at a time.
	recognized = 512

	// maxSteps is how often: after so many steps few are left.
	maxSteps = 8
)

// search is for the stacks of a dictionary that the tables hold.
type search struct {
	pending []int               // ids of stacks whose parents may become linked
	states  [recognized]absence // of all, in the order of their ids
	of      []int               // of those that are looked for now
	parents []stream.StackID
	frames  []stream.FrameID
	found   [recognized]stream.StackID
}

// absence is what is known of a stack that is not linked.
type absence uint8

const (
	maybe  absence = iota // nothing
	absent                // the tables don't hold it, but its parent
	behind                // nor its parent
)

// recognize links those of some stacks that the tables hold, a step from their
// roots to their leaves at a time. Where ways branch off each other a step is far
// in memory; to wait for all branches at once takes a fraction of the time that
// it takes to wait for each.
func (l *linker) recognize(from, to int) {
	s := &l.search
	s.pending = s.pending[:0]
	for id := from; id < to; id++ {
		s.pending = append(s.pending, id)
	}
	s.states = [recognized]absence{}
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

// follow links the pending stacks that lie behind their parents in the tables.
// The others are to be looked for if their parents are linked.
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

// know links a stack behind its parent, of which more than the root is known.
func (l *linker) know(id int, sid stream.StackID) {
	parent := l.stacks.dense[id].parent
	l.stacks.dense[id] = stackLink{sid, l.stacks.dense[parent].link().root}.edge()
	l.depth[id] = l.depth[parent] + 1
}
