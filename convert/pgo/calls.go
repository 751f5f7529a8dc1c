package pgo

import (
	"gprof/convert/internal/locations"
	"gprof/convert/internal/totals"
	"gprof/stream"
)

// call is a call at a place, and what the samples below it weigh.
type call struct {
	caller place
	callee stream.StringID
	weight int64
}

// place is a line of a function, from where that begins.
type place struct {
	function stream.StringID
	line     int32
}

// pair is a call between the code of two frames.
type pair struct{ caller, callee stream.FrameID }

// callsOf sums up the calls of stacks, which have these weights. Those of lost were made by functions of which is
// unknown where they begin.
func callsOf(t *stream.Tables, weights []int64) (all []call, lost tally) {
	sums := map[pair]int64{}
	var chain []stream.FrameID
	for id, weight := range weights {
		if weight <= 0 {
			continue
		}
		chain = innermost(t, stream.StackID(id), chain[:0])
		for i := range chain[:max(1, len(chain))-1] {
			p := pair{chain[i+1], chain[i]}
			if p.caller != p.callee && !again(chain[:i+1], p) {
				sums[p] = totals.Plus(sums[p], weight)
			}
		}
	}
	at := map[call]int{}
	for p, weight := range sums {
		by, f := t.Frames.At(p.caller), t.Frames.At(p.callee)
		if by.Function == 0 || f.Function == 0 {
			continue
		}
		if by.Start <= 0 {
			lost.add(weight)
			continue
		}
		key := call{caller: place{by.Function, by.Line - by.Start}, callee: f.Function}
		i, ok := at[key]
		if !ok {
			i = len(all)
			at[key] = i
			all = append(all, key)
		}
		all[i].weight = totals.Plus(all[i].weight, weight)
	}
	return all, lost
}

// innermost appends the frames that the compiler looks at, from the innermost outward: those of a stack's last two
// addresses. Calls further outside are mostly made once.
func innermost(t *stream.Tables, id stream.StackID, chain []stream.FrameID) []stream.FrameID {
	addresses := 0
	var inner stream.Frame
	for id != 0 {
		caller, frame := t.Stacks.At(id)
		id = caller
		f := t.Frames.At(frame)
		if f.Label {
			continue
		}
		if len(chain) == 0 || !locations.Inlined(&inner, &f) {
			if addresses++; addresses > 2 {
				break
			}
		}
		chain, inner = append(chain, frame), f
	}
	return chain
}

// again reports whether a call is among those of a chain.
func again(chain []stream.FrameID, p pair) bool {
	for i := range chain[:len(chain)-1] {
		if chain[i] == p.callee && chain[i+1] == p.caller {
			return true
		}
	}
	return false
}
