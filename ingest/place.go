package ingest

import (
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

// start is the earliest moment of any anchor, 0 if there is none.
func (a *aligner) start() int64 {
	var start stream.Time
	for i, p := range a.known {
		if at := p.clock.At(p.own.first()); i == 0 || at < start {
			start = at
		}
	}
	return int64(start)
}
