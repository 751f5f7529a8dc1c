package recorder

import (
	"gprof/rawformat"
	"gprof/recorder/internal/profile"
	"gprof/recorder/internal/rt"
)

// sampleRow is what the sample blocks of a row have in common.
type sampleRow struct {
	track  uint32
	labels uint32   // id of the set, 0 none
	stack  uint64   // the field: 0 none, 1 raw, else id + 1
	raw    []uint64 // pcs of a stack for which the dictionary had no room
}

func (k *keeper) sampleRow(c *profile.Sample) (row sampleRow) {
	if c.Track != "" {
		row.track = k.trackNamed(c.Track)
	}
	if row.labels = k.dict.LabelSet(c.Labels); row.labels == 0 && len(c.Labels) > 0 {
		k.lose(rawformat.LostLabels, 1, 0)
	}
	if id := k.dict.Stack(c.Stack); id != 0 {
		row.stack = uint64(id) + 1
	} else if len(c.Stack) > 0 {
		row.stack = 1
		for _, l := range c.Stack[:min(len(c.Stack), maxRaw)] {
			row.raw = append(row.raw, l.PC)
		}
	}
	return row
}

// writeSample writes one sample block.
func (r *recording) writeSample(row *sampleRow, at profile.Slot, window rt.Time) {
	s, now := r.acquirePatiently(), r.clock.At(at.At)
	if s == nil || !r.turnWithStack(s, uint32(sampleRoom+2*10*len(row.raw)), who{track: row.track, labels: row.labels}, now, row.raw) {
		return
	}
	s.finish(s.sample(now, [...]uint64{0, 0, uint64(row.track), row.stack, 1, uint64(at.CPU) + 1, uint64(window)}))
	leave(s)
}

// sample is a sample block, not yet finished, with what stands behind its time.
func (s *shard) sample(at rt.Tick, fields [7]uint64) []byte {
	b := s.time(s.begin(rawformat.KindSample), at)
	for _, v := range fields {
		b = rawformat.AppendUint(b, v)
	}
	return b
}

// sampleRoom is more than a sample block takes, and the length of a stack block.
const sampleRoom = 96
