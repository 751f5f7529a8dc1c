package counters

import (
	"math"
	"runtime/metrics"

	"gprof/rawformat"
)

// limitOfGroup is the counter of the cgroup's limit, where it has one.
const limitOfGroup = "cgroup memory limit"

// Value is what the counter of that name showed when it was last read, 0 if it never was.
func (m *Meter) Value(name string) int64 {
	for i := range m.probes {
		if p := &m.probes[i]; p.Name == name && p.Mode&rawformat.CounterOwn != 0 {
			return p.written.Value
		}
	}
	return 0
}

// MemoryShare is the share of its memory limit that the program uses: of that of its cgroup, or
// of Go's own, GOMEMLIMIT, whichever is nearer; 0 without a limit.
func (m *Meter) MemoryShare() (share float64) {
	own := [1]metrics.Sample{{Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(own[:])
	if limit := number(&own[0]); limit > 0 && limit != math.MaxInt64 {
		share = float64(m.Value(memoryOfGo)) / float64(limit)
	}
	if limit := m.Value(limitOfGroup); limit > 0 {
		share = max(share, float64(m.Value(rawformat.CounterGroupMemory))/float64(limit))
	}
	return share
}
