package keeper

import (
	"cmp"
	"strings"

	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/profile"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// sampleRow is what sample blocks with the same stack, track and labels have in common.
type sampleRow struct {
	track  uint32
	labels uint32   // id of the set, 0: none
	stack  uint64   // the stack field: 0 none, 1 raw, else id + 1
	raw    []uint64 // pcs of a stack for which the dictionary had no room

	unwanted bool // it is not recorded
}

// sampleRow gives the stack, track and labels of a sample their ids.
func (k *Keeper) sampleRow(c *profile.Sample) (row sampleRow) {
	if c.Track != "" {
		row.track = k.trackID(c.Track)
	}
	row.unwanted = k.leavesOut(c)
	if row.labels = k.dict.LabelSet(c.Labels); row.labels == 0 && len(c.Labels) > 0 {
		k.rec.Lose(rawformat.LostLabels, 1, 0)
	}
	if id := k.dict.Stack(c.Stack); id != 0 {
		row.stack = uint64(id) + 1
	} else if len(c.Stack) > 0 {
		row.stack = shard.RawStack
		for _, l := range c.Stack[:min(len(c.Stack), shard.MaxPCs)] {
			row.raw = append(row.raw, l.PC)
		}
	}
	return row
}

// trackID is the id of a track in this recording, 0 if it has none.
func (k *Keeper) trackID(name string) uint32 {
	if t := registry.Defined.TrackNamed(name); t != nil {
		return k.rec.TrackID(t)
	}
	return 0
}

// leavesOut reports whether a sample is on a track, or the row of a root function, that is
// not recorded.
func (k *Keeper) leavesOut(c *profile.Sample) bool {
	return k.rec.Filters() && !k.rec.Wants(cmp.Or(c.Track, dict.Row(c.Stack)))
}

// rowOf is the row of a stack.
func (k *Keeper) rowOf(stack []dict.Frame) sampleRow {
	return k.sampleRow(&profile.Sample{Stack: stack})
}

// maxPublic is how many calls of a stack the runtime gives in its records of the heap and
// of goroutines.
const maxPublic = 32

// locateRecord resolves a stack, which is cut if it has that many calls or more and no root.
func (k *Keeper) locateRecord(calls []uintptr, most int) []dict.Frame {
	leafFirst := dict.Locate(calls)
	if rt.IsCut(calls, most) {
		k.rec.Lose(rawformat.LostDeep, 1, 0)
		leafFirst = append(leafFirst, dict.Truncated)
	}
	return leafFirst
}

// withoutRuntime removes the runtime's own allocating functions, as runtime/pprof does.
func withoutRuntime(leafFirst []dict.Frame) []dict.Frame {
	for i, l := range leafFirst {
		if len(l.Functions) == 0 || !isRuntime(l.Functions[0].Name) {
			return leafFirst[i:]
		}
	}
	return leafFirst // the runtime allocated it for itself
}

func isRuntime(function string) bool {
	return strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "internal/runtime/")
}
