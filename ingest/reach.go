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

// Snapshot reports whether p was recording when the archive was packed in which
// it lies: it has no exit record for that reason.
func (p *Process) Snapshot() bool {
	a, ok := p.files.(interface{ Live(instance uint64) bool })
	return ok && a.Live(p.Instance)
}
