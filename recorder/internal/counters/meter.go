// Package counters reads what the system and Go's runtime count: for this process, its
// threads, its cgroup and the machine.
package counters

import (
	"fmt"
	"sync/atomic"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

// Meter reads all counters of a recording, in rounds. It belongs to one goroutine.
// Moments are given as the time since the program began.
type Meter struct {
	hz      int // rounds in a second, 0 none
	base    time.Time
	gauges  []*gauge
	absent  []absence
	probes  []probe           // all counters; a counter's id is its index + 1
	values  [maxGauge]Reading // of the gauge that is being read
	defined [][]byte          // records of the first probes
	runtime runtimeMetrics
	system  systemMetrics
	rooms   Rooms
	refused bool // the dictionary has no room for more counters

	spent atomic.Int64 // ns of CPU time that the recorder took on threads that are not its own
}

// Output takes what a [Meter] reads.
type Output interface {
	// Define writes definitions of counters, and returns how many had room.
	Define(records ...[]byte) int
	// Tick is the present moment, for Write.
	Tick() int64
	// Write writes the value that a counter had.
	Write(id int, r Reading, tick int64)
}

// Spec describes a counter.
type Spec struct {
	Name, Category, Description string
	Unit                        rawformat.Format
	Mode                        rawformat.CounterMode
}

// Reading is what a counter showed.
type Reading struct {
	Value  int64
	Number int64 // operations that led to it, 0 unknown
	Known  bool
}

// gauge is one place where the values of some counters are read.
type gauge struct {
	specs []Spec
	every time.Duration // the least time between two reads; 0: each round has one
	// read sets the values that it can read; the others are not written. False: the
	// gauge is no longer useful.
	read func(v []Reading) bool

	first int // of its probes
	due   time.Duration
	took  time.Duration // how long a read takes at most
}

// maxGauge is how many counters a gauge may have.
const maxGauge = 32

// absence is something that can't be read here, and why.
type absence struct {
	what string
	why  error
}

// probe is a counter with the value that was written last.
type probe struct {
	Spec
	written Reading
	at      time.Duration // when it was written; 0 never
	passed  int64         // tick of the last read with that value
	skipped bool          // such a read was not written
}

// rewriteEvery is how often an unchanged value is written. Most values don't change, and leaving them
// out saves room.
const rewriteEvery = time.Second

// Open finds out which counters there are. The meter has so many rounds in a second,
// or none.
func (m *Meter) Open(hz int) {
	if m.hz = hz; hz == 0 {
		return
	}
	m.base = time.Now()
	m.openRuntime()
	m.openSystem("/")
}

// Close closes the files that the counters are read from.
func (m *Meter) Close() { m.system.close() }

// Add adds a counter of the program's own.
func (m *Meter) Add(s Spec, value func() int64) {
	m.AddOwn(s, value)
	m.probes[len(m.probes)-1].Mode = s.Mode
}

// Spent notes CPU time that [Measure] has found.
func (m *Meter) Spent(d time.Duration) { m.spent.Add(int64(d)) }

// AddOwn adds a counter of the recorder's.
func (m *Meter) AddOwn(s Spec, value func() int64) {
	m.add(&gauge{specs: []Spec{s}, read: func(v []Reading) bool {
		v[0] = Reading{Value: value(), Known: true}
		return true
	}})
}

// add adds a gauge.
func (m *Meter) add(g *gauge) {
	g.first = len(m.probes)
	for _, s := range g.specs {
		s.Mode |= rawformat.CounterOwn
		m.probes = append(m.probes, probe{Spec: s})
	}
	m.gauges = append(m.gauges, g)
}

// miss notes that something can't be read here.
func (m *Meter) miss(what string, why error) { m.absent = append(m.absent, absence{what, why}) }

// Describe says what is recorded, and what can't be.
func (m *Meter) Describe() string {
	if m.hz == 0 {
		return "off"
	}
	text := fmt.Sprintf("%d Hz", m.hz)
	for i, a := range m.absent {
		text += [...]string{"; absent: ", "; "}[min(i, 1)] + fmt.Sprintf("%s (%v)", a.what, a.why)
	}
	return text
}

// Definitions are the records of the counters that were defined until now.
func (m *Meter) Definitions() [][]byte { return m.defined }

// Waited is how long goroutines had to wait for a processor lately: the 99th
// percentile, in ns.
func (m *Meter) Waited() int64 { return m.runtime.waited }

// Round reads all counters that are due, and writes the new values.
func (m *Meter) Round(out Output, now time.Duration) {
	kept := m.gauges[:0]
	for _, g := range m.gauges {
		if now < g.due || m.readGauge(out, g, now) {
			kept = append(kept, g)
		}
	}
	clear(m.gauges[len(kept):])
	m.gauges = kept
}

// Last writes all values once more, at the end.
func (m *Meter) Last(out Output, now time.Duration) {
	for _, g := range m.gauges {
		g.due = 0
	}
	for i := range m.probes {
		m.probes[i].at = 0
	}
	m.Round(out, now)
}

// Rest is called while nothing is recorded: values of that time are unknown.
func (m *Meter) Rest() {
	for i := range m.probes {
		m.probes[i].at, m.probes[i].skipped = 0, false
	}
}

// readGauge reads and writes the values of a gauge. False: it is no longer useful.
func (m *Meter) readGauge(out Output, g *gauge, now time.Duration) bool {
	v := m.values[:len(g.specs)]
	clear(v)
	begin := time.Since(m.base)
	useful := g.read(v)
	tick := out.Tick()
	g.schedule(now, time.Since(m.base)-begin)
	m.define(out, g.first+len(v))
	for i := range v {
		if v[i].Known {
			m.write(out, g.first+i, v[i], now, tick)
		}
	}
	return useful
}

// gaugeShare bounds the cost of a gauge: after a read, so many times as long as it took
// pass until the next one. Most cost a hundredth of that; the kernel's list of network
// interfaces, where they are thousands, does not.
const gaugeShare = 1000

// schedule settles when the next read is: at regular times, without catching up. A read
// may have taken long because the goroutine had to wait for a processor. So each slow
// read at most doubles the assumed cost, and a fast one lowers it at once.
func (g *gauge) schedule(now, took time.Duration) {
	g.took = min(took, 2*g.took+time.Microsecond)
	if every := max(g.every, gaugeShare*g.took); every > 0 {
		g.due = now - now%every + every
	}
}

// define writes the definitions of the first n counters.
func (m *Meter) define(out Output, n int) {
	first := len(m.defined)
	if n <= first || m.refused {
		return
	}
	for i, p := range m.probes[first:n] {
		m.defined = append(m.defined, record.New(rawformat.KindDefCounter).Uint(uint64(first+i+1)).
			Text(p.Name).Text(p.Category).Text(p.Description).Uint(uint64(p.Unit)).Uint(uint64(p.Mode)))
	}
	had := out.Define(m.defined[first:]...)
	m.refused = had < n-first
	m.defined = m.defined[:first+had]
}

// write writes a value, unless the same one was written lately. Before a new value the
// old one is written again, at the last read that showed it: front ends draw a line from
// value to value, or divide an increase by the time since the value before.
func (m *Meter) write(out Output, i int, v Reading, now time.Duration, tick int64) {
	p := &m.probes[i]
	if p.at != 0 && v == p.written && now-p.at < rewriteEvery {
		p.passed, p.skipped = tick, true
		return
	}
	if i >= len(m.defined) {
		return // counted when its definition was refused
	}
	if p.skipped && v != p.written {
		out.Write(i+1, p.written, p.passed)
	}
	out.Write(i+1, v, tick)
	p.written, p.at, p.skipped = v, now, false
}
