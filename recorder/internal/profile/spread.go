package profile

import (
	"fmt"

	"gprof/recorder/internal/rt"
)

// maxSamples bounds the samples of a window: 10,000 busy processors would make as many.
const maxSamples = 1 << 20

// Slot is one sample's place in a window.
type Slot struct {
	Row int // of the profile
	At  rt.Time
	CPU int64 // ns
}

// Spread gives each sample a slot of its own, all equally wide. When a sample was taken is
// unknown, but the runtime takes them at a steady rate. A row has as many slots as samples,
// and the rows take turns, because the samples of one stack seldom come all at once.
func Spread(rows []Sample, begin, end rt.Time) ([]Slot, error) {
	total := int64(0)
	for _, row := range rows {
		if row.CPU < 0 || row.Count < 0 || row.Count > maxSamples || total > maxSamples-row.Count {
			return nil, fmt.Errorf("%w: a row of %d samples and %d ns, want at most %d samples in all", errProfile, row.Count, row.CPU, maxSamples)
		}
		total += row.Count
	}
	slots := make([]Slot, 0, total)
	for turn := int64(0); int64(len(slots)) < total; turn++ {
		for i, row := range rows {
			if turn < row.Count {
				middle := 2*rt.Time(len(slots)) + 1
				slots = append(slots, Slot{i, begin + (end-begin)*middle/(2*rt.Time(total)), row.share(turn)})
			}
		}
	}
	return slots, nil
}

// share is the CPU time of sample i of the row. They add up to the row's.
func (c *Sample) share(i int64) int64 {
	share, rest := c.CPU/c.Count, c.CPU%c.Count
	if i < rest {
		share++
	}
	return share
}
