package keeper

import (
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/rt"
)

// maxPublic is how many calls of a stack the runtime tells in its records of the
// heap and of goroutines.
const maxPublic = 32

// locateRecord is locate for a stack of the runtime's records of the heap and of
// goroutines.
func (k *Keeper) locateRecord(calls []uintptr) []dict.Frame {
	leafFirst := dict.Locate(calls)
	if rt.IsCut(calls, maxPublic) {
		k.rec.Lose(rawformat.LostDeep, 1, 0)
		leafFirst = append(leafFirst, dict.Truncated)
	}
	return leafFirst
}
