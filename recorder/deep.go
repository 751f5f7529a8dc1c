package recorder

import (
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/rt"
)

// locateRecord is locate for a stack of the runtime's records of the heap and of
// goroutines.
func (r *recording) locateRecord(calls []uintptr) []dict.Frame {
	leafFirst := locate(calls)
	if rt.IsCut(calls, maxPublic) {
		r.lose(rawformat.LostDeep, 1, 0)
		leafFirst = append(leafFirst, dict.Truncated)
	}
	return leafFirst
}
