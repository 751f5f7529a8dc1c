package recorder

import (
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// counting is the keeper's part of counters: what internal/counters reads goes into
// the recording.
type counting struct {
	meter  counters.Meter
	cycles counters.Cycles
	own    int  // counters of the program that the meter has
	late   bool // goroutines had to wait for a processor when it was last read
}

func (c *counting) open(k *keeper, hz int) {
	c.meter.Open(hz)
	c.cycles.Open(k.rec.Clock().Anchor)
}

// round reads all counters that are due, and writes what there is to write.
func (c *counting) round(k *keeper, now Time) {
	c.takeProgram()
	c.cycles.Round(k.writeCycle)
	c.meter.Round(counterOutput{k}, time.Duration(now))
	c.writeDelay(k)
}

// last writes all values once more, at the end.
func (c *counting) last(k *keeper) {
	c.takeProgram()
	c.cycles.Round(k.writeCycle)
	c.meter.Last(counterOutput{k}, time.Duration(Now()))
	c.writeDelay(k)
}

// rest is called while nothing is recorded.
func (c *counting) rest() {
	c.meter.Rest()
	c.cycles.Rest()
}

// takeProgram adds the program's counters that were defined since.
func (c *counting) takeProgram() {
	fresh := registry.Defined.CountersFrom(c.own)
	for _, counter := range fresh {
		c.meter.Add(counter.Spec, counter.Value)
	}
	c.own += len(fresh)
}

// writeDelay writes how long goroutines had to wait for a processor, and that they don't
// any more.
func (c *counting) writeDelay(k *keeper) {
	waited := c.meter.Waited()
	if waited > 0 || c.late {
		k.entry(rawformat.KindDelay, 0, uint64(waited))
	}
	c.late = waited > 0
}

// counterOutput writes counters into a recording.
type counterOutput struct{ k *keeper }

func (o counterOutput) Define(records ...[]byte) int {
	n := o.k.dict.Define(records...)
	if n < len(records) {
		o.k.rec.Lose(rawformat.LostDictionary, uint64(len(records)-n), 0)
	}
	return n
}

func (o counterOutput) Tick() int64 { return int64(o.k.rec.Clock().Now()) }

func (o counterOutput) Write(id int, v counters.Reading, at int64) {
	o.k.rec.Write(shard.Steady, shard.Block{Kind: rawformat.KindCounter, Time: rt.Tick(at), Fields: []uint64{uint64(id), rawformat.Zigzag(v.Value), uint64(max(0, v.Number))}})
}

var gcEvent = NewEvent4("GC",
	Uint("cycle"),
	Uint("paused").Unit(UnitNanoseconds).Label("world stopped"),
	Uint("marking").Unit(UnitNanoseconds).Label("marking, at least"),
	Uint("live").Unit(UnitBytes).Label("heap alive"),
	Category("GC", "orange"), Display(InChart|InTable|InTimeline|InMemory))

// writeCycle writes a cycle of the garbage collector as an interval.
func (k *keeper) writeCycle(c counters.Cycle) {
	values := [...]Arg{V(uint64(c.Number)), V(uint64(c.Paused)), V(uint64(c.Marking)), V(c.Live)}
	known := values[:3]
	if c.LiveKnown {
		known = values[:]
	}
	clock := k.rec.Clock()
	k.rec.ProcessInterval(gcEvent.h, clock.OfMonotonic(c.Begin), clock.OfMonotonic(c.End), known...)
}
