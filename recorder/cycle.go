package recorder

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// gcEvent is a cycle of the garbage collector. The runtime notes when a cycle
// ended, and for how long the world was stopped in it; both are exact. When it
// began is told nowhere but in Go's execution trace. But marking has all processors
// at most, and workers of its own a quarter of them, so their CPU time tells how
// long it took at least; where processors are scarce it may have been twice as long.
// Of several cycles in one round only the sum is known: they share it. What is alive
// is known of the last one.
var gcEvent = NewEvent4("GC",
	Uint("cycle"),
	Uint("paused").Unit(UnitNanoseconds).Label("world stopped"),
	Uint("marking").Unit(UnitNanoseconds).Label("marking, at least"),
	Uint("live").Unit(UnitBytes).Label("heap alive"),
	Category("GC", "orange"), Display(InChart|InTable|InTimeline|InMemory))

// workerShare is the part of the processors that workers get: one by so many.
const workerShare = 4

// What a round reads.
const (
	readCycles = iota
	readWorkers
	readAssists
	readIdle
	readProcessors
	readLive
	numCycleMetrics
)

var cycleMetrics = [numCycleMetrics]string{cyclesMetric, "/cpu/classes/gc/mark/dedicated:cpu-seconds", "/cpu/classes/gc/mark/assist:cpu-seconds",
	"/cpu/classes/gc/mark/idle:cpu-seconds", "/sched/gomaxprocs:threads", "/gc/heap/live:bytes"}

// cycleMeter records cycles of the garbage collector.
type cycleMeter struct {
	samples [numCycleMetrics]metrics.Sample
	stats   debug.GCStats
	seen    int64   // cycles
	workers float64 // CPU seconds of marking until then: those of workers
	marking float64 // and all
	last    uint64  // CLOCK_MONOTONIC at the end of the last one, or when it was last looked
	resting bool    // or before the first round: what ended until now is not recorded
}

func (m *cycleMeter) open() {
	for i, name := range cycleMetrics {
		m.samples[i].Name = name
	}
	m.resting = true
}

func (m *cycleMeter) rest() { m.resting = true }

// round records the cycles that have ended since the last one. It does not stop
// the world.
func (m *cycleMeter) round(r *Recording, now Time) {
	metrics.Read(m.samples[:])
	cycles := int64(number64(&m.samples[readCycles]))
	if cycles == m.seen && !m.resting {
		return
	}
	took := m.took(max(1, cycles-m.seen))
	if m.resting {
		m.resting, m.seen, m.last = false, cycles, r.clock.base+uint64(now)
		return
	}
	debug.ReadGCStats(&m.stats) // has the last 256; one may have ended meanwhile
	n := min(int(cycles-m.seen), len(m.stats.Pause), len(m.stats.PauseEnd))
	newer := max(0, min(int(m.stats.NumGC-cycles), len(m.stats.Pause)-n))
	for i := newer + n - 1; i >= newer; i-- { // the latest is the first
		m.write(r, cycles-int64(i-newer), m.stats.PauseEnd[i], m.stats.Pause[i], took, i == newer)
	}
	m.seen = cycles
}

// took is how long marking took at least in each of so many cycles.
func (m *cycleMeter) took(cycles int64) time.Duration {
	workers := seconds(&m.samples[readWorkers])
	marking := workers + seconds(&m.samples[readAssists]) + seconds(&m.samples[readIdle])
	took := max((workers-m.workers)*workerShare, marking-m.marking)
	m.workers, m.marking = workers, marking
	return time.Duration(max(0, took) * 1e9 / float64(cycles) / float64(max(1, number64(&m.samples[readProcessors]))))
}

// write records a cycle that ended at a time of day. Whatever became of that
// meanwhile, cycles don't overlap.
func (m *cycleMeter) write(r *Recording, cycle int64, end time.Time, paused, marking time.Duration, latest bool) {
	now := r.clock.anchor()
	ago := uint64(max(0, now.Realtime-end.UnixNano()))
	at := max(m.last, now.Monotonic-min(ago, now.Monotonic))
	begin := max(m.last, at-min(uint64(marking+paused), at))
	m.last = at
	var values [4]Arg
	for i, v := range [...]uint64{uint64(cycle), uint64(paused), uint64(marking), number64(&m.samples[readLive])} {
		values[i] = V(v)
	}
	known := values[:3]
	if latest {
		known = values[:]
	}
	r.write(&marker{d: gcEvent.d, kind: markInterval, now: r.clock.ofMonotonic(at), begin: r.clock.ofMonotonic(begin), many: true, values: known}, nil)
}

func number64(s *metrics.Sample) uint64 {
	if s.Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s.Value.Uint64()
}

func seconds(s *metrics.Sample) float64 {
	if s.Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return s.Value.Float64()
}
