package recorder

import (
	"fmt"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// maxSamples bounds those of a window: what 10,000 busy processors would make.
const maxSamples = 1 << 20

// slot is one sample's place in a window.
type slot struct {
	row int // of the profile
	at  rt.Time
	cpu int64 // ns
}

// spread gives each sample a slot of its own, all equally wide: when a sample
// was taken is not known, but the runtime takes them at a steady rate. A row
// stands for as many samples as it counts. The rows take turns, because the
// samples of a stack seldom come all at once.
func spread(rows []cpuSample, begin, end rt.Time) ([]slot, error) {
	total := int64(0)
	for _, row := range rows {
		if row.cpu < 0 || row.count < 0 || row.count > maxSamples || total > maxSamples-row.count {
			return nil, fmt.Errorf("%w: a row of %d samples and %d ns, want at most %d samples in all", errProfile, row.count, row.cpu, maxSamples)
		}
		total += row.count
	}
	slots := make([]slot, 0, total)
	for turn := int64(0); int64(len(slots)) < total; turn++ {
		for i, row := range rows {
			if turn < row.count {
				middle := 2*rt.Time(len(slots)) + 1
				slots = append(slots, slot{i, begin + (end-begin)*middle/(2*rt.Time(total)), row.share(turn)})
			}
		}
	}
	return slots, nil
}

// share is the CPU time of the row's sample i; all of them add up to the row's.
func (c *cpuSample) share(i int64) int64 {
	share, rest := c.cpu/c.count, c.cpu%c.count
	if i < rest {
		share++
	}
	return share
}

// sampleRow is what the sample blocks of a row have in common.
type sampleRow struct {
	track  uint32
	labels uint32   // id of the set, 0 none
	stack  uint64   // the field: 0 none, 1 raw, else id + 1
	raw    []uint64 // pcs of a stack for which the dictionary had no room
}

func (k *Keeper) sampleRow(c *cpuSample) (row sampleRow) {
	if c.track != "" {
		row.track = k.trackNamed(c.track)
	}
	if row.labels = k.dict.LabelSet(c.labels); row.labels == 0 && len(c.labels) > 0 {
		k.lose(rawformat.LostLabels, 1, 0)
	}
	if id := k.dict.Stack(c.stack); id != 0 {
		row.stack = uint64(id) + 1
	} else if len(c.stack) > 0 {
		row.stack = 1
		for _, l := range c.stack[:min(len(c.stack), maxRaw)] {
			row.raw = append(row.raw, l.PC)
		}
	}
	return row
}

// writeSample writes one sample block.
func (r *Recording) writeSample(row *sampleRow, at slot, window rt.Time) {
	s, now := r.acquirePatiently(), r.clock.At(at.at)
	if s == nil || !r.turnWithStack(s, uint32(sampleRoom+2*10*len(row.raw)), who{track: row.track, labels: row.labels}, now, row.raw) {
		return
	}
	s.finish(s.sample(now, [...]uint64{0, 0, uint64(row.track), row.stack, 1, uint64(at.cpu) + 1, uint64(window)}))
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
