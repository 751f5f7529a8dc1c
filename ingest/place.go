package ingest

import (
	"slices"

	"gprof/decode"
	"gprof/stream"
)

// place finds a place for processes without an anchor: their first event is put
// where the start is known to be from anything else, at last at the start of
// the run.
func (a *aligner) place() {
	start := a.start()
	for _, p := range a.unknown {
		at, from := decode.RealTime(p.Process)
		if from == "" {
			at, from = start, "the start of the run"
		}
		p.clock = decode.Fixed(at - int64(decode.FirstTime(p.Process)))
		p.placed = stream.Clock{By: from, Boot: decode.BootID(p.Process), Pieces: 1, Uncertainty: -1}
	}
}

// placeForeign is place for what other tools recorded: what tells its real time
// is where it belongs.
func (a *aligner) placeForeign() {
	start := stream.Time(a.start())
	for _, p := range a.foreign {
		if g, ok := p.foreign.file.(*goTrace); ok {
			g.share(a.known)
		}
		p.placed = p.foreign.row().Clock
		if p.placed.By == "" {
			p.foreign.place(start)
			p.placed = stream.Clock{By: "the start of the run", Pieces: 1, Uncertainty: -1}
		}
	}
}

// start is the earliest moment of any anchor or, where there is none, of any
// file of another tool that tells it; else 0.
func (a *aligner) start() int64 {
	var moments []stream.Time
	for _, p := range a.known {
		moments = append(moments, p.clock.At(p.own.first()))
	}
	if len(moments) > 0 {
		return int64(slices.Min(moments))
	}
	for _, p := range a.foreign {
		if row := p.foreign.file.Processes()[p.foreign.number]; row.Clock.By != "" {
			moments = append(moments, row.Start)
		}
	}
	if len(moments) > 0 {
		return int64(slices.Min(moments))
	}
	return 0
}
