package recorder

import (
	"math"
	"runtime/metrics"
	"slices"
)

// runtimeMetrics are counters of the Go runtime. One read gets them all, none
// of them stops the world.
type runtimeMetrics struct {
	samples []metrics.Sample
	waits   []uint64 // the latency histogram as it was last time
}

var runtimeCounters = []struct {
	metric string
	counterSpec
}{
	{"/memory/classes/heap/objects:bytes", counterSpec{name: "heap", category: "Go", description: "live and unswept heap objects", unit: UnitBytes}},
	{"/gc/heap/allocs:bytes", counterSpec{name: "allocated", category: "Go", description: "bytes allocated on the heap since the start", unit: UnitBytes, mode: 1}},
	{"/gc/cycles/total:gc-cycles", counterSpec{name: "GC cycles", category: "Go", description: "completed garbage collections", mode: 1}},
	{"/sched/goroutines:goroutines", counterSpec{name: "goroutines", category: "Go", description: "live goroutines"}},
	{waitMetric, counterSpec{name: "scheduler latency p99", category: "Go", description: "how long goroutines waited to run since the last value", unit: UnitNanoseconds}},
}

const waitMetric = "/sched/latencies:seconds"

// probeRuntime defines the runtime's counters.
func (r *Recorder) probeRuntime() {
	m := &r.meter.runtime
	for i, c := range runtimeCounters {
		m.samples = append(m.samples, metrics.Sample{Name: c.metric})
		r.probe(c.counterSpec, func() int64 { return m.value(i) })
	}
}

func (m *runtimeMetrics) read() { metrics.Read(m.samples) }

// value is that of the last read; 0 for a metric that this Go does not have.
func (m *runtimeMetrics) value(i int) int64 {
	switch v := m.samples[i].Value; v.Kind() {
	case metrics.KindUint64:
		return int64(v.Uint64())
	case metrics.KindFloat64Histogram:
		return m.latency(v.Float64Histogram())
	}
	return 0
}

// latency is the 99th percentile of what h gained since the last call, in ns.
func (m *runtimeMetrics) latency(h *metrics.Float64Histogram) int64 {
	old := m.waits
	m.waits = slices.Clone(h.Counts)
	total := uint64(0)
	for i := range h.Counts {
		if i < len(old) {
			h.Counts[i] -= old[i] // h is ours until the next read
		}
		total += h.Counts[i]
	}
	below := uint64(0)
	for i, n := range h.Counts {
		if below += n; total > 0 && below*100 >= total*99 {
			return nanoseconds(h.Buckets[i], h.Buckets[i+1])
		}
	}
	return 0
}

// nanoseconds is a bucket's upper bound, or the lower one if that is infinite.
func nanoseconds(low, high float64) int64 {
	if math.IsInf(high, 0) {
		high = low
	}
	return int64(max(0, high) * 1e9)
}
