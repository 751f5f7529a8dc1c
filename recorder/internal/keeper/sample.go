package keeper

import (
	"gprof/rawformat"
	"gprof/recorder/internal/profile"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// sampleRow is what the sample blocks of a row have in common.
type sampleRow struct {
	track  uint32
	labels uint32   // id of the set, 0 none
	stack  uint64   // the field: 0 none, 1 raw, else id + 1
	raw    []uint64 // pcs of a stack for which the dictionary had no room
}

func (k *Keeper) sampleRow(c *profile.Sample) (row sampleRow) {
	if c.Track != "" {
		row.track = k.trackID(c.Track)
	}
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

// writeSample writes one sample block.
func (k *Keeper) writeSample(row *sampleRow, at profile.Slot, window rt.Time) {
	k.rec.Write(shard.Wait, shard.Block{Kind: rawformat.KindSample, Time: k.rec.Clock().At(at.At), Track: row.track, Labels: row.labels, PCs: row.raw,
		Fields: []uint64{0, 0, uint64(row.track), row.stack, 1, uint64(at.CPU) + 1, uint64(window)}})
}

// trackID is the id of a track in this recording, 0 if there is none.
func (k *Keeper) trackID(name string) uint32 {
	if t := registry.Defined.TrackNamed(name); t != nil {
		return k.rec.TrackID(t)
	}
	return 0
}

// leavesOut reports whether what is on the track of that name is not recorded; "" is no
// track.
func (k *Keeper) leavesOut(name string) bool { return name != "" && !k.config.Wants(name) }
