package recorder

import (
	"errors"
	"math"
	"runtime"
	"runtime/metrics"
)

// runtimeMetrics are counters of the Go runtime. One read gets them all, none
// of them stops the world. Only times of CPU of the garbage collector wait for
// the end of a cycle.
type runtimeMetrics struct {
	samples []metrics.Sample // and, behind those of counters, what was given back
	counts  []uint64         // the latency histogram as it was last time
	waited  int64            // ns, the latency's 99th percentile since then
}

var runtimeCounters = []struct {
	metric string
	counterSpec
}{
	{cyclesMetric, counterSpec{name: "GC cycles", category: "Go", description: "completed garbage collections", mode: 1}},
	{"/memory/classes/heap/objects:bytes", counterSpec{name: "heap", category: "Go", description: "live and unswept heap objects", unit: UnitBytes}},
	{"/gc/heap/goal:bytes", counterSpec{name: "heap goal", category: "Go", description: "size of the heap at which the next garbage collection is to end", unit: UnitBytes}},
	{"/gc/heap/allocs:bytes", counterSpec{name: "allocated", category: "Go", description: "bytes allocated on the heap since the start", unit: UnitBytes, mode: 1}},
	{totalMetric, counterSpec{name: "Go memory", category: "Go", description: "memory that the Go runtime has from the system, without what it has given back", unit: UnitBytes}},
	{"/sched/goroutines:goroutines", counterSpec{name: "goroutines", category: "Go", description: "live goroutines"}},
	{"/sched/goroutines/running:goroutines", counterSpec{name: "goroutines running", category: "Go", description: "goroutines that have a processor"}},
	{"/sched/goroutines/runnable:goroutines", counterSpec{name: "goroutines runnable", category: "Go", description: "goroutines that wait for a processor"}},
	{"/sched/goroutines/waiting:goroutines", counterSpec{name: "goroutines waiting", category: "Go", description: "goroutines that wait for something else"}},
	{"/sched/goroutines/not-in-go:goroutines", counterSpec{name: "goroutines not in Go", category: "Go", description: "goroutines in system calls or C"}},
	{"/sched/threads/total:threads", counterSpec{name: "threads", category: "Go", description: "threads of the Go runtime"}},
	{latencyMetric, counterSpec{name: "scheduler latency p99", category: "Go", description: "how long goroutines waited to run since the last value", unit: UnitNanoseconds}},
	{"/sync/mutex/wait/total:seconds", counterSpec{name: "lock waits", category: "Go", description: "time that goroutines waited for locks, of all together", unit: UnitNanoseconds, mode: 1}},
	{"/cpu/classes/gc/total:cpu-seconds", counterSpec{name: "GC CPU", category: "CPU", description: "CPU time for garbage collection, as the runtime estimates it at the end of each", unit: UnitNanoseconds, mode: 1}},
}

const (
	cyclesMetric  = "/gc/cycles/total:gc-cycles"
	totalMetric   = "/memory/classes/total:bytes"
	backMetric    = "/memory/classes/heap/released:bytes"
	latencyMetric = "/sched/latencies:seconds"
)

// openRuntime finds the runtime's counters.
func (m *meter) openRuntime() {
	samples := make([]metrics.Sample, len(runtimeCounters))
	for i, c := range runtimeCounters {
		samples[i].Name = c.metric
	}
	metrics.Read(samples)
	g := &gauge{read: m.runtime.values}
	for i, c := range runtimeCounters {
		if samples[i].Value.Kind() == metrics.KindBad {
			m.miss(c.name, errors.New("not in "+runtime.Version()))
			continue
		}
		m.runtime.samples = append(m.runtime.samples, samples[i])
		g.specs = append(g.specs, c.counterSpec)
	}
	m.runtime.samples = append(m.runtime.samples, metrics.Sample{Name: backMetric})
	m.add(g)
	m.cycles.open()
}

// values reads all.
func (m *runtimeMetrics) values(v []count) bool {
	metrics.Read(m.samples)
	back := number64(&m.samples[len(v)])
	for i := range v {
		s := &m.samples[i]
		v[i] = count{value: m.value(s), known: true}
		if s.Name == totalMetric {
			v[i].value -= int64(back)
		}
	}
	return true
}

func (m *runtimeMetrics) value(s *metrics.Sample) int64 {
	switch s.Value.Kind() {
	case metrics.KindUint64:
		return int64(s.Value.Uint64())
	case metrics.KindFloat64:
		return int64(s.Value.Float64() * 1e9)
	case metrics.KindFloat64Histogram:
		m.waited = m.latency(s.Value.Float64Histogram())
		return m.waited
	}
	return 0
}

// latency is the 99th percentile of what h gained since the last call, in ns.
func (m *runtimeMetrics) latency(h *metrics.Float64Histogram) int64 {
	if len(m.counts) != len(h.Counts) { // the first time: what was before
		m.counts = make([]uint64, len(h.Counts))
	}
	total := uint64(0)
	for i, n := range h.Counts {
		h.Counts[i] = n - m.counts[i] // h is ours until the next read
		m.counts[i] = n
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
