package recorder

import (
	"runtime"

	"gprof/rawformat"
)

// truncated stands in a stack for the frames that are missing because it was too deep.
var truncated = location{pc: rawformat.TruncatedPC}

// isCut reports whether a stack, leaf first, has as many calls as it may have and does
// not end where goroutines begin. It allocates nothing.
func isCut(calls []uintptr, most int) bool {
	if len(calls) < most {
		return false
	}
	functions := [maxChain]uintptr{}
	if expandInlined(functions[:], []uintptr{0, calls[len(calls)-1]}) != 1 {
		return true
	}
	f := runtime.FuncForPC(functions[0] - 1)
	return f == nil || f.Name() != "runtime.goexit"
}

// locateRecord is locate for a stack of the runtime's records of the heap and of
// goroutines.
func (r *Recording) locateRecord(calls []uintptr) []location {
	leafFirst := locate(calls)
	if isCut(calls, maxPublic) {
		r.lose(rawformat.LostDeep, 1, 0)
		leafFirst = append(leafFirst, truncated)
	}
	return leafFirst
}

// markTruncated marks the stacks that the runtime's CPU profile has cut.
func (p *cpuProfile) markTruncated(r *Recording) {
	for i := range p.samples {
		s, functions := &p.samples[i], 0
		for _, l := range s.stack {
			functions += max(1, len(l.chain))
		}
		if functions >= maxWindow {
			s.stack = append(s.stack, truncated)
			r.lose(rawformat.LostDeep, uint64(s.count), 0)
		}
	}
}
