package ingest

import (
	"fmt"
	"time"

	"gprof/decode"
	"gprof/stream"
)

// maxSkew is how far the real times of two processes of one boot may disagree
// while their monotonic clocks are taken to be the same clock.
const maxSkew = 50 * time.Millisecond

// align puts all processes on one time line. Processes of one boot share the
// monotonic clock, so the first of them lends the others its anchor: their
// order is then exact. A process whose anchor disagrees, or that does not say
// when its machine booted, keeps its own.
func (f *Found) align(ledger *stream.Ledger) {
	reference := map[string]decode.Clock{} // by boot id
	for _, p := range f.Processes {
		own, ok := decode.ClockOf(p.Process)
		boot := decode.BootID(p.Process)
		p.clock = own
		ref, shared := reference[boot]
		switch {
		case !ok:
			note(ledger, p, "no anchor")
		case boot == "":
			if len(f.Processes) > 1 {
				note(ledger, p, "boot unknown, real time taken")
			}
		case !shared:
			reference[boot] = own
		case skew(own, ref) <= maxSkew:
			p.clock = ref
		default:
			note(ledger, p, fmt.Sprintf("real time differs by %v from that of its boot, own real time taken", skew(own, ref)))
		}
	}
}

// skew is how far two anchors disagree.
func skew(a, b decode.Clock) time.Duration {
	return time.Duration(b.At(a.Monotonic) - stream.Time(a.Realtime)).Abs()
}

func note(ledger *stream.Ledger, p *Process, where string) {
	ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonClock, What: "processes", Where: where, Count: 1})
}
