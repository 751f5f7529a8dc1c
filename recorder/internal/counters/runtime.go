package counters

import (
	"errors"
	"math"
	"runtime"
	"runtime/metrics"

	"gprof/rawformat"
)

// runtimeMetrics are counters of the Go runtime. One read gets them all, and does not
// stop the world. The runtime updates the CPU time of the garbage collector at the end of
// each cycle only.
type runtimeMetrics struct {
	samples []metrics.Sample // of the counters, then of the hidden ones
	rooms   *Rooms           // the meter's
	counts  []uint64         // the latency histogram at the last read
	waited  int64            // ns, the 99th percentile of the latency since the read before
}

var runtimeCounters = []struct {
	metric string
	Spec
}{
	{cyclesMetric, Spec{Name: "GC cycles", Category: "Go", Description: "completed garbage collections", Mode: rawformat.CounterTotal}},
	{objectsMetric, Spec{Name: "heap", Category: "Go", Description: "live and unswept heap objects", Unit: rawformat.FormatBytes}},
	{liveMetric, Spec{Name: "heap live", Category: "Go", Description: "heap objects that the last garbage collection found alive: what heap samples add up to", Unit: rawformat.FormatBytes}},
	{"/gc/heap/goal:bytes", Spec{Name: "heap goal", Category: "Go", Description: "size of the heap at which the next garbage collection is to end", Unit: rawformat.FormatBytes}},
	{"/gc/heap/allocs:bytes", Spec{Name: "allocated", Category: "Go", Description: "bytes allocated on the heap since the start", Unit: rawformat.FormatBytes, Mode: rawformat.CounterTotal}},
	{totalMetric, Spec{Name: "Go memory", Category: "Go", Description: "memory that the Go runtime has from the system, without what it has given back", Unit: rawformat.FormatBytes}},
	{"/sched/goroutines:goroutines", Spec{Name: "goroutines", Category: "Go", Description: "live goroutines"}},
	{"/sched/goroutines/running:goroutines", Spec{Name: "goroutines running", Category: "Go", Description: "goroutines that have a processor"}},
	{"/sched/goroutines/runnable:goroutines", Spec{Name: "goroutines runnable", Category: "Go", Description: "goroutines that wait for a processor"}},
	{"/sched/goroutines/waiting:goroutines", Spec{Name: "goroutines waiting", Category: "Go", Description: "goroutines that wait for something else"}},
	{"/sched/goroutines/not-in-go:goroutines", Spec{Name: "goroutines not in Go", Category: "Go", Description: "goroutines in system calls or C"}},
	{"/sched/threads/total:threads", Spec{Name: "threads", Category: "Go", Description: "threads of the Go runtime"}},
	{latencyMetric, Spec{Name: "scheduler latency p99", Category: "Go", Description: "how long goroutines waited to run since the last value", Unit: rawformat.FormatNanoseconds}},
	{"/sync/mutex/wait/total:seconds", Spec{Name: "lock waits", Category: "Go", Description: "time that goroutines waited for locks, of all together", Unit: rawformat.FormatNanoseconds, Mode: rawformat.CounterTotal}},
	{"/cpu/classes/gc/total:cpu-seconds", Spec{Name: "GC CPU", Category: "CPU", Description: "CPU time for garbage collection, as the runtime estimates it at the end of each", Unit: rawformat.FormatNanoseconds, Mode: rawformat.CounterTotal}},
}

const (
	cyclesMetric  = "/gc/cycles/total:gc-cycles"
	totalMetric   = "/memory/classes/total:bytes"
	backMetric    = "/memory/classes/heap/released:bytes"
	limitMetric   = "/gc/gomemlimit:bytes"
	objectsMetric = "/memory/classes/heap/objects:bytes"
	liveMetric    = "/gc/heap/live:bytes"
	latencyMetric = "/sched/latencies:seconds"
)

// openRuntime finds the runtime's counters.
func (m *Meter) openRuntime() {
	samples := make([]metrics.Sample, len(runtimeCounters))
	for i, c := range runtimeCounters {
		samples[i].Name = c.metric
	}
	metrics.Read(samples)
	g := &gauge{read: m.runtime.values}
	for i, c := range runtimeCounters {
		if samples[i].Value.Kind() == metrics.KindBad {
			m.miss(c.Name, errors.New("not in "+runtime.Version()))
			continue
		}
		m.runtime.samples = append(m.runtime.samples, samples[i])
		g.specs = append(g.specs, c.Spec)
	}
	m.runtime.rooms = &m.rooms
	m.runtime.samples = append(m.runtime.samples, metrics.Sample{Name: backMetric}, metrics.Sample{Name: limitMetric})
	m.add(g)
}

// values reads all of them.
func (m *runtimeMetrics) values(v []Reading) bool {
	metrics.Read(m.samples)
	back, limit := number(&m.samples[len(v)]), number(&m.samples[len(v)+1])
	var total, objects, live int64
	for i := range v {
		s := &m.samples[i]
		v[i] = Reading{Value: m.value(s), Known: true}
		switch s.Name {
		case totalMetric:
			v[i].Value -= int64(back)
			total = v[i].Value
		case objectsMetric:
			objects = v[i].Value
		case liveMetric:
			live = v[i].Value
		}
	}
	// The heap may fill its limit with garbage, which a collection frees then.
	m.rooms[RoomGo] = limited(total-max(0, objects-live), int64(min(limit, unlimited)))
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
