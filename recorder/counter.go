package recorder

import (
	"sync/atomic"

	"gprof/rawformat"
)

// Counter is a number that the recorder samples. Setting it costs an atomic
// store, whether something records or not.
type Counter struct {
	value atomic.Int64
	spec  counterSpec
}

type counterSpec struct {
	name, category, description string
	unit                        Unit
	mode                        rawformat.CounterMode
}

// CounterOption is a property of a counter.
type CounterOption func(*counterSpec)

// In states the counter's unit. Without it: a whole number.
func In(u Unit) CounterOption { return func(c *counterSpec) { c.unit = u } }

// Total makes the counter a total since the start, which never falls. Without
// it the value is a level.
func Total() CounterOption { return func(c *counterSpec) { c.mode = rawformat.CounterTotal } }

// Describe says what the counter counts.
func Describe(text string) CounterOption { return func(c *counterSpec) { c.description = text } }

// Group puts the counter among others on screen.
func Group(category string) CounterOption { return func(c *counterSpec) { c.category = category } }

// NewCounter defines a counter. Counters are meant to be package-level
// variables, like events.
func NewCounter(name string, opts ...CounterOption) *Counter {
	c := &Counter{spec: counterSpec{name: name}}
	for _, o := range opts {
		o(&c.spec)
	}
	defined.mu.Lock()
	defer defined.mu.Unlock()
	defined.counters = append(defined.counters, c)
	return c
}

// Set makes v the counter's value.
func (c *Counter) Set(v int64) {
	if c != nil {
		c.value.Store(v)
	}
}

// Add adds to the counter's value.
func (c *Counter) Add(delta int64) {
	if c != nil {
		c.value.Add(delta)
	}
}

// Value is the counter's value.
func (c *Counter) Value() int64 {
	if c == nil {
		return 0
	}
	return c.value.Load()
}

// probe is a counter of a recording: its id there, and how to read it.
type probe struct {
	id   uint32
	read func() int64
}

// meter samples the counters of a recording. It belongs to the housekeeper.
type meter struct {
	probes  []probe
	defined [][]byte // records of probes
	own     int      // counters of the program that were looked at
	runtime runtimeMetrics
	system  systemMetrics
	refused bool // the dictionary has no room for more counters
}

// probe defines a counter and has it sampled.
func (r *Recorder) probe(c counterSpec, read func() int64) {
	m := &r.meter
	if m.refused {
		return
	}
	id := len(m.probes) + 1
	body := newRecord(rawformat.KindDefCounter).uint(uint64(id)).text(c.name).text(c.category).text(c.description).uint(uint64(c.unit)).uint(uint64(c.mode))
	if m.refused = r.dict.define(body) == 0; m.refused {
		r.lose(rawformat.LostDictionary, 1, 0)
		return
	}
	m.probes = append(m.probes, probe{uint32(id), read})
	m.defined = append(m.defined, body)
}

// sampleCounters writes the value of each counter. The first time it defines
// the built-in ones.
func (r *Recorder) sampleCounters() {
	if len(r.meter.runtime.samples) == 0 {
		r.probeRuntime()
		r.probeSystem()
	}
	defined.mu.Lock()
	fresh := defined.counters[r.meter.own:]
	defined.mu.Unlock()
	for _, c := range fresh {
		r.probe(c.spec, c.Value)
	}
	r.meter.own += len(fresh)
	r.meter.runtime.read()
	for _, p := range r.meter.probes {
		r.writeCounter(p.id, p.read())
	}
}

// writeCounter writes a value. How many operations led to it is not counted.
func (r *Recorder) writeCounter(id uint32, value int64) {
	now := r.clock.now()
	s := r.acquirePatiently()
	if s == nil || !r.turn(s, 64, who{}, now) {
		return
	}
	b := rawformat.AppendUint(s.time(s.begin(rawformat.KindCounter), now), uint64(id))
	b = rawformat.AppendSint(b, value)
	s.finish(rawformat.AppendUint(b, 0))
	leave(s)
}
