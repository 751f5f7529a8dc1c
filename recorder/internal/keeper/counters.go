package keeper

import (
	"time"

	"gprof/chunks/mapping"
	"gprof/rawformat"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// counting is the keeper's part of counters: it writes what package counters reads into the
// recording.
type counting struct {
	meter  counters.Meter
	cycles counters.Cycles
	own    int  // how many of the program's counters the meter has
	late   bool // goroutines were waiting for a processor at the last reading
}

// memoryCounter is what the recorder itself adds to the resident memory, except for tables in
// Go's heap.
var memoryCounter = counters.Spec{Name: "recorder memory", Category: "Memory", Description: "memory mapped by the recorder, which is part of the resident memory", Unit: rawformat.FormatBytes}

func (c *counting) open(k *Keeper, hz int) {
	c.meter.Open(hz)
	if hz > 0 {
		c.meter.AddOwn(memoryCounter, mapping.Held)
	}
	c.cycles.Open(k.rec.Clock().Anchor)
}

// round reads all counters that are due, and writes what is new.
func (c *counting) round(k *Keeper, now rt.Time) {
	c.takeProgram()
	c.cycles.Round(k.writeCycle)
	c.meter.Round(counterOutput{k}, time.Duration(now))
	c.writeDelay(k)
}

// last writes all values once more, at the end.
func (c *counting) last(k *Keeper) {
	c.takeProgram()
	c.cycles.Round(k.writeCycle)
	c.meter.Last(counterOutput{k}, time.Duration(rt.Now()))
	c.writeDelay(k)
}

// rest is called while nothing is recorded.
func (c *counting) rest() {
	c.meter.Rest()
	c.cycles.Rest()
}

// takeProgram adds counters that the program defined since the last call.
func (c *counting) takeProgram() {
	fresh := registry.Defined.CountersFrom(c.own)
	for _, counter := range fresh {
		c.meter.Add(counter.Spec, counter.Value)
	}
	c.own += len(fresh)
}

// writeDelay writes how long goroutines waited for a processor, and once 0 when they no
// longer do.
func (c *counting) writeDelay(k *Keeper) {
	waited := c.meter.Waited()
	if waited > 0 || c.late {
		k.entry(rawformat.KindDelay, 0, uint64(waited))
	}
	c.late = waited > 0
}

// counterOutput writes counters into a recording.
type counterOutput struct{ k *Keeper }

func (o counterOutput) Define(records ...[]byte) int {
	n := o.k.dict.Define(records...)
	if n < len(records) {
		o.k.rec.Lose(rawformat.LostDictionary, uint64(len(records)-n), 0)
	}
	return n
}

func (o counterOutput) Tick() int64 { return int64(o.k.rec.Clock().Now()) }

func (o counterOutput) Write(id int, v counters.Reading, at int64) {
	o.k.rec.Write(shard.Wait, shard.Block{Kind: rawformat.KindCounter, Time: rt.Tick(at), Fields: []uint64{uint64(id), rawformat.Zigzag(v.Value), uint64(max(0, v.Number))}})
}

var gcEvent = shard.Handle{Event: registry.Defined.Event(&registry.EventSpec{Name: "GC", Category: [3]string{"GC", "orange"},
	Display: rawformat.ShowChart | rawformat.ShowTable | rawformat.ShowTimeline | rawformat.ShowMemory,
	Fields: []registry.FieldSpec{
		numberField("cycle", rawformat.WireUint, rawformat.FormatInteger),
		labelled("world stopped", numberField("paused", rawformat.WireUint, rawformat.FormatNanoseconds)),
		labelled("marking, at least", numberField("marking", rawformat.WireUint, rawformat.FormatNanoseconds)),
		labelled("heap alive", numberField("live", rawformat.WireUint, rawformat.FormatBytes)),
	}})}

// writeCycle writes a cycle of the garbage collector as an interval.
func (k *Keeper) writeCycle(c counters.Cycle) {
	values := [...]shard.Typed{shard.Type(uint64(c.Number)), shard.Type(uint64(c.Paused)), shard.Type(uint64(c.Marking)), shard.Type(c.Live)}
	known := values[:3]
	if c.LiveKnown {
		known = values[:]
	}
	clock := k.rec.Clock()
	k.rec.ProcessInterval(gcEvent, clock.OfMonotonic(c.Begin), clock.OfMonotonic(c.End), known...)
}
