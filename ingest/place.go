package ingest

import (
	"gprof/decode"
	"gprof/stream"
)

// place finds a place for processes without an anchor: their first event is put
// where the start is known to be from anything else, at last at the start of
// the run.
func (a *aligner) place(unknown []*Process, known []*placed) {
	for _, p := range unknown {
		at, from := decode.RealTime(p.Process)
		if from == "" {
			at, from = runStart(known), "the start of the run"
		}
		p.clock = decode.Fixed(at - int64(decode.FirstTime(p.Process)))
		a.note(p, "processes", "no anchor: placed by "+from)
	}
}

// runStart is the earliest moment of any anchor, 0 if there is none.
func runStart(known []*placed) int64 {
	var start stream.Time
	for i, p := range known {
		if at := p.clock.At(p.own.first()); i == 0 || at < start {
			start = at
		}
	}
	return int64(start)
}
