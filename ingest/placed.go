package ingest

import (
	"gprof/decode"
	"gprof/stream"
)

// describe tells how c, the clock of p, places its times.
func (p *placed) describe(c decode.Clock) stream.Clock {
	first, last := p.anchors[0], p.anchors[len(p.anchors)-1]
	row := stream.Clock{
		By: stream.PlacedByBoot, Boot: decode.BootID(p.Process.Process), Pieces: 1,
		Anchors: len(p.anchors), First: c.At(first.Monotonic), Last: c.At(last.Monotonic),
		Monotonic: int64(first.Monotonic),
	}
	if row.Boot == "" || p.shared != p.boot.lines[0] {
		row.By = stream.PlacedByHost
	}
	for _, a := range p.anchors {
		row.Uncertainty = max(row.Uncertainty, distance(int64(c.At(a.Monotonic)), a.Realtime))
	}
	t := p.shared
	if t.steady() {
		return row
	}
	for i := range len(t.stretches) - 1 { // when in between the offset changed, nobody knows
		if from, to := t.stretches[i].to, t.stretches[i+1].from; p.saw(from, to) {
			row.Pieces++
			row.Uncertainty = max(row.Uncertainty, distance(t.stretches[i].offset, t.stretches[i+1].offset))
		}
	}
	return row
}

func distance(a, b int64) int64 { return max(a, b) - min(a, b) }
