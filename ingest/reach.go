package ingest

import (
	"gprof/decode"
	"gprof/stream"
)

// From is how far back p reaches: when the first of what is still there was
// recorded, on the clock of the run, which [Found.Source] sets. It is 0 if
// nothing is there.
func (p *Process) From() stream.Time {
	if m := decode.FirstTime(p.Process); m != 0 {
		return p.clock.At(m)
	}
	return 0
}
