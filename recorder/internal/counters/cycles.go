package counters

import (
	"runtime/debug"
	"runtime/metrics"
	"time"

	"gprof/rawformat"
)

// Cycle is one cycle of the garbage collector. Begin and End are moments of
// CLOCK_MONOTONIC.
//
// End and Paused are exact. The runtime gives the beginning of a cycle only in its execution trace, so
// Begin is the latest possible time: marking uses at most all processors, and its own workers a quarter
// of them, so their CPU time gives a lower bound. If processors are scarce it may have taken twice as
// long. Of several cycles in one round only the sum is known; each gets an equal share.
type Cycle struct {
	Number     int64
	Begin, End uint64
	Paused     time.Duration // how long the world was stopped
	Marking    time.Duration // a lower bound
	Live       uint64        // bytes alive at the end
	LiveKnown  bool          // Live is known for the last cycle only
}

// workersShare is how many processors there are for each worker of the garbage collector.
const workersShare = 4

// The metrics that a round reads.
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
	"/cpu/classes/gc/mark/idle:cpu-seconds", "/sched/gomaxprocs:threads", liveMetric}

// Cycles finds the cycles of the garbage collector that have ended. It belongs to one
// goroutine, and does not stop the world.
type Cycles struct {
	anchor  func() rawformat.Anchor
	samples [numCycleMetrics]metrics.Sample
	stats   debug.GCStats
	seen    int64   // cycles
	workers float64 // CPU seconds of marking until then, by workers
	marking float64 // and by all
	last    uint64  // when the last cycle ended, or the first round was
	resting bool    // cycles that end before the next round are not reported
}

// Open prepares the first round; anchor reads the clocks.
func (c *Cycles) Open(anchor func() rawformat.Anchor) {
	c.anchor = anchor
	for i, name := range cycleMetrics {
		c.samples[i].Name = name
	}
	c.resting = true
}

// Rest has cycles ignored that end before the next round.
func (c *Cycles) Rest() { c.resting = true }

// Round calls write for each cycle that has ended since the last round.
func (c *Cycles) Round(write func(Cycle)) {
	metrics.Read(c.samples[:])
	cycles := int64(number(&c.samples[readCycles]))
	if cycles == c.seen && !c.resting {
		return
	}
	took := c.took(max(1, cycles-c.seen))
	if c.resting {
		c.resting, c.seen, c.last = false, cycles, c.anchor().Monotonic
		return
	}
	debug.ReadGCStats(&c.stats) // has the last 256; one may have ended meanwhile
	n := min(int(cycles-c.seen), len(c.stats.Pause), len(c.stats.PauseEnd))
	newer := max(0, min(int(c.stats.NumGC-cycles), len(c.stats.Pause)-n))
	for i := newer + n - 1; i >= newer; i-- { // the latest is the first
		cycle := Cycle{Number: cycles - int64(i-newer), Paused: c.stats.Pause[i], Marking: took}
		if i == newer {
			cycle.Live, cycle.LiveKnown = number(&c.samples[readLive]), true
		}
		c.place(&cycle, c.stats.PauseEnd[i])
		write(cycle)
	}
	c.seen = cycles
}

// took is how long marking took at least in each of so many cycles.
func (c *Cycles) took(cycles int64) time.Duration {
	workers := seconds(&c.samples[readWorkers])
	marking := workers + seconds(&c.samples[readAssists]) + seconds(&c.samples[readIdle])
	took := max((workers-c.workers)*workersShare, marking-c.marking)
	c.workers, c.marking = workers, marking
	return time.Duration(max(0, took) * 1e9 / float64(cycles) / float64(max(1, number(&c.samples[readProcessors]))))
}

// place finds out when a cycle was that ended at a time of day. Cycles don't overlap,
// even if the time of day was set meanwhile.
func (c *Cycles) place(cycle *Cycle, end time.Time) {
	now := c.anchor()
	ago := uint64(max(0, now.Realtime-end.UnixNano()))
	cycle.End = max(c.last, now.Monotonic-min(ago, now.Monotonic))
	cycle.Begin = max(c.last, cycle.End-min(uint64(cycle.Marking+cycle.Paused), cycle.End))
	c.last = cycle.End
}

// number is the value of a metric that is a whole number, else 0.
func number(s *metrics.Sample) uint64 {
	if s.Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s.Value.Uint64()
}

// seconds is the value of a metric that is a number of seconds, else 0.
func seconds(s *metrics.Sample) float64 {
	if s.Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return s.Value.Float64()
}
