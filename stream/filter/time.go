package filter

import (
	"math"

	"gprof/stream"
)

// timeFilter keeps a range of time.
type timeFilter struct{ from, to stream.Time }

// ByTime returns a Source of the events of src from from on and before to: rows whose
// time is in that range, and intervals that reach into it, whole. The ledger says how
// much is left out. The Source is a [Progress] if src is, and closes src if it can be
// closed.
//
// Pages stay, whenever they began, because events in the range refer to them. Starts and
// ends are events of their own, as after a loss: of a pair of which one is outside, the
// other is kept. Allocations from before the recording are left out if from is after the
// beginning of time: what is in use is then what was added meanwhile.
func ByTime(src stream.Source, from, to stream.Time) stream.Source {
	s := timeFilter{from, to}
	return newFilter(src, rule{name: "time", keep: s.keep})
}

func (s timeFilter) keep(b *stream.Batch, rows []int32) []int32 {
	if b.Series.Kind == stream.Pages {
		return allRows(b, rows)
	}
	for i := range b.Time {
		if s.holds(b, i) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

func (s timeFilter) holds(b *stream.Batch, i int) bool {
	at := b.Time[i]
	if b.Series.Kind == stream.Allocations && b.Phase[i] == stream.PhaseStart && s.from != math.MinInt64 {
		return false
	}
	if at >= s.from || len(b.Duration) == 0 {
		return s.from <= at && at < s.to
	}
	// Unsigned, because the difference may exceed a Time.
	return at < s.to && b.Duration[i] > 0 && uint64(b.Duration[i]) > uint64(s.from)-uint64(at)
}
