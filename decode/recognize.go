package decode

import (
	"gprof/rawformat"
	"gprof/stream"
)

const (
	// recognized is how many stacks are looked up at once.
	recognized = 2048

	// maxSteps is after how many lookups of a branch few are left.
	maxSteps = 12
)

// search looks up the stacks of a dictionary in the tables. Its memory is used again.
type search struct {
	open    []branch
	unknown int              // stacks that are not linked
	absent  [recognized]bool // stacks that are not in the tables, unlike their parents

	// What the tables are asked for at once.
	of      []int // index in open
	parents []stream.StackID
	frames  []stream.FrameID
	found   []stream.StackID
}

// branch is stacks with consecutive ids, each the parent of the next, as a recorder defines those that are new in a sample.
// Those before at are linked.
type branch struct {
	at, end int
	above   stackLink // of the stack before at, and of what is known of the functions at its frame
	deep    uint16    // the number of frames above
	inlined int       // functions at the frame that are known
	begun   bool      // above is set
}

// recognize links stacks that the tables have already, along all branches at a time, one lookup of each after the other. At
// branches that is a cache miss; those of many branches overlap.
func (l *linker) recognize(from, to int) {
	s := &l.names.search
	l.findBranches(from, to)
	for range maxSteps {
		if l.follow(); len(s.of) == 0 {
			return
		}
		s.found = append(s.found[:0], s.parents...) // for the room
		l.names.tables.Stacks.LookupBranches(s.parents, s.frames, s.found)
		for i, k := range s.of {
			p := &s.open[k]
			if s.found[i] != 0 {
				l.step(p, s.found[i])
				continue
			}
			s.absent[p.at-from] = l.frame(uint64(l.stacks.dense[p.at].frame)) > 0
			p.end = p.at
		}
	}
}

// findBranches divides what is not linked of the stacks with ids from from to to-1 into branches. Stacks that are defined before
// their parents are in none.
func (l *linker) findBranches(from, to int) {
	s := &l.names.search
	s.open, s.unknown = s.open[:0], 0
	clear(s.absent[:])
	last := 0 // end of the last branch
	for id := from; id < to; id++ {
		e := l.stacks.dense[id]
		if e == (edge{}) || l.depth[id] != 0 {
			continue
		}
		s.unknown++
		switch parent := int(e.parent); {
		case last == id && parent == id-1 && parent != 0:
			last++
			s.open[len(s.open)-1].end = last
		case parent < id:
			last = id + 1
			s.open = append(s.open, branch{at: id, end: last})
		}
	}
}

// follow goes along the open branches as far as the next stack is next to its parent in the tables, too, and collects what
// is to be looked up.
func (l *linker) follow() {
	s := &l.names.search
	all := s.open
	s.open, s.of, s.parents, s.frames = s.open[:0], s.of[:0], s.parents[:0], s.frames[:0]
	for i := range all {
		p := all[i]
		if l.advance(&p) {
			s.open = append(s.open, p)
		}
	}
}

// advance goes along a branch. It returns whether it may go on after a lookup, or when its parent is linked.
func (l *linker) advance(p *branch) (open bool) {
	if !p.begun && p.at < p.end {
		if parent := l.stacks.dense[p.at].parent; parent != 0 {
			if p.deep = l.depth[parent]; p.deep == 0 {
				return true
			}
			p.above = l.stacks.dense[parent].link()
		}
		p.begun = true
	}
	for p.at < p.end && p.deep < rootDepth { // add sets the root
		if l.names.adds(p.above.sid) || !l.add(uint64(p.at), l.stacks.dense[p.at]) {
			return false
		}
		p.above = l.stacks.dense[p.at].link()
		p.at, p.deep = p.at+1, p.deep+1
		l.names.search.unknown--
	}
	l.skim(p)
	for p.at < p.end && p.deep < rawformat.MaxStack && !l.names.adds(p.above.sid) {
		f := l.frame(uint64(l.stacks.dense[p.at].frame))
		if f == 0 {
			return false
		}
		function := l.names.function(f, p.inlined)
		next := l.names.tables.Stacks.Next(p.above.sid, function)
		if next == 0 {
			s := &l.names.search
			s.of, s.parents, s.frames = append(s.of, len(s.open)), append(s.parents, p.above.sid), append(s.frames, function)
			return true
		}
		l.step(p, next)
		l.skim(p)
	}
	return false
}

// skim is the usual case of advance: to stacks of one function each that are next to their parents.
func (l *linker) skim(p *branch) {
	if p.inlined > 0 {
		return
	}
	stacks, depth, frames := l.stacks.dense[:p.end], l.depth[:p.end], l.placed
	tables, at, above, deep := l.names.tables, p.at, p.above, p.deep
	for at < len(stacks) && at < len(depth) && deep < rawformat.MaxStack {
		frame := stacks[at].frame
		if frame >= uint32(len(frames)) || frames[frame] <= 0 {
			break
		}
		next := tables.Stacks.Next(above.sid, stream.FrameID(frames[frame]))
		if next == 0 {
			break
		}
		above.sid = next
		deep++
		stacks[at], depth[at] = above.edge(), deep
		at++
	}
	l.names.search.unknown -= at - p.at
	p.at, p.above, p.deep = at, above, deep
}

// function is one of the functions at an address, the outermost first.
func (n *names) function(p placement, i int) stream.FrameID {
	if p > 0 {
		return stream.FrameID(p)
	}
	return n.chains[-p-1][i]
}

// step goes one function further on a branch, to a stack of the tables. After the last one of its frame the stack is linked.
func (l *linker) step(p *branch, to stream.StackID) {
	p.above.sid = to
	if f := l.frame(uint64(l.stacks.dense[p.at].frame)); f < 0 && p.inlined+1 < len(l.names.chains[-f-1]) {
		p.inlined++
		return
	}
	p.inlined = 0
	p.deep++
	l.stacks.dense[p.at], l.depth[p.at] = p.above.edge(), p.deep
	p.at++
	l.names.search.unknown--
}
