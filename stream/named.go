package stream

import "cmp"

// codeAt is an address of a file that is known by its build.
type codeAt struct {
	module ModuleID
	offset uint64
}

// nameStacks has stacks in which code lacks a name lead through the functions that others name
// at the same address of the same build: a process that was killed had no time to write its
// symbols, but others had. It adds stacks to t, and returns which one each is to be replaced by;
// nil: none is. What a Source named already has no part in it, nor do places that are named in
// several ways.
func nameStacks(t *Tables) (instead []StackID) {
	if len(t.Processes) < 2 {
		return nil
	}
	chains := chainsOf(t)
	if len(chains) == 0 {
		return nil
	}
	n := t.Stacks.Len()
	instead = make([]StackID, n+1)
	changed := false
	for id := StackID(1); int(id) <= n; id++ { // callers come first
		caller, frame := t.Stacks.At(id)
		if caller >= id {
			return nil // a fault of the source, which marking reports
		}
		chain, nameless := chains[frame]
		switch above := instead[caller]; {
		case nameless:
			for _, f := range chain {
				above = t.Stacks.Intern(above, f)
			}
			instead[id], changed = above, true
		case above != caller:
			instead[id] = t.Stacks.Intern(above, frame)
		default:
			instead[id] = id
		}
	}
	if !changed {
		return nil
	}
	return instead
}

// chainsOf are the frames to put in place of each one without a name, outermost first.
func chainsOf(t *Tables) map[FrameID][]FrameID {
	at := map[codeAt][]FrameID{} // frames with names, by depth; nil until there is one
	var nameless []FrameID
	where := func(f *Frame) (p codeAt, ok bool) {
		p = codeAt{f.Module, f.Offset}
		return p, f.Module > 0 && int(f.Module) <= t.Modules.Len() && !f.Label && t.Modules.At(f.Module).Build != ""
	}
	for id := FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		if p, ok := where(&f); ok && f.Function == 0 {
			at[p] = nil
			nameless = append(nameless, id)
		}
	}
	if len(at) == 0 {
		return nil
	}
	ambiguous := map[codeAt]bool{}
	for id := FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		p, ok := where(&f)
		chain, wanted := at[p]
		if !ok || !wanted || f.Function == 0 || f.Depth < 0 || f.Depth > maxChain {
			continue
		}
		for len(chain) <= int(f.Depth) {
			chain = append(chain, 0)
		}
		ambiguous[p] = ambiguous[p] || chain[f.Depth] != 0
		chain[f.Depth] = id
		at[p] = chain
	}
	chains := map[FrameID][]FrameID{}
	for _, id := range nameless {
		f := t.Frames.At(id)
		p := codeAt{f.Module, f.Offset}
		if chain := at[p]; len(chain) > 0 && !ambiguous[p] && whole(chain) {
			chains[id] = chain
		}
	}
	return chains
}

// maxChain bounds the functions that are inlined into one another.
const maxChain = 1 << 10

// whole reports whether a chain has a frame at each depth.
func whole(chain []FrameID) bool {
	for _, id := range chain {
		if id == 0 {
			return false
		}
	}
	return true
}

// replaced is live, with stacks replaced by others.
func replaced(live []bool, instead []StackID) []bool {
	all := make([]bool, len(live))
	for id, is := range live {
		if !is {
			continue
		}
		at := StackID(id)
		if id < len(instead) {
			at = cmp.Or(instead[id], at)
		}
		for len(all) <= int(at) {
			all = append(all, false)
		}
		all[at] = true
	}
	return all
}
