package recorder

import (
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/rt"
)

// locateRecord is locate for a stack of the runtime's records of the heap and of
// goroutines.
func (r *Recording) locateRecord(calls []uintptr) []dict.Frame {
	leafFirst := locate(calls)
	if rt.IsCut(calls, maxPublic) {
		r.lose(rawformat.LostDeep, 1, 0)
		leafFirst = append(leafFirst, dict.Truncated)
	}
	return leafFirst
}

// markTruncated marks the stacks that the runtime's CPU profile has cut.
func (p *cpuProfile) markTruncated(r *Recording) {
	for i := range p.samples {
		s, functions := &p.samples[i], 0
		for _, l := range s.stack {
			functions += max(1, len(l.Functions))
		}
		if functions >= maxWindow {
			s.stack = append(s.stack, dict.Truncated)
			r.lose(rawformat.LostDeep, uint64(s.count), 0)
		}
	}
}
