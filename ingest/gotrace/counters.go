package gotrace

import (
	"math"

	"gprof/stream"
)

// countEvery is the minimal time between rows of the numbers of goroutines, in ns: they change with
// each event.
const countEvery = 1_000_000

// stateCounters count goroutines by state; the first is of all.
var stateCounters = [numStates]stream.Counter{
	unknownState: {Name: "goroutines", Category: "Go", Description: "live goroutines"},
	running:      {Name: "goroutines running", Category: "Go", Description: "on a processor, each on a thread of its own"},
	runnable:     {Name: "goroutines runnable", Category: "Go", Description: "waiting for a processor"},
	waiting:      {Name: "goroutines waiting", Category: "Go", Description: "waiting for something else"},
	calling:      {Name: "goroutines in system calls", Category: "Go", Description: "each on a thread of its own"},
}

// metricCounters are the metrics of a trace, named as in runtime/metrics; the heap as in our own
// recordings.
var metricCounters = map[string]stream.Counter{
	"/memory/classes/heap/objects:bytes": {Name: "heap", Category: "Go", Description: "live and unswept heap objects", Unit: stream.FormatBytes},
	"/gc/heap/goal:bytes":                {Name: "heap goal", Category: "Go", Description: "size of the heap at which the next collection ends", Unit: stream.FormatBytes},
	"/sched/gomaxprocs:threads":          {Name: "GOMAXPROCS", Category: "Go", Description: "processors that run goroutines"},
}

// counts are the numbers of goroutines by state.
type counts struct {
	now   [numStates]int64
	told  int64 // time of the last row
	since int64 // time of the last change
	dirty bool  // changed since the last row

	// In the first generation goroutines that existed all along are found one by one, so its rows
	// wait until all are found.
	first bool
	early []earlyCount
	lacks [numStates]int64 // found so far
}

type earlyCount struct {
	time  int64
	known [numStates]int64 // without those found so far
}

// maxEarly bounds the waiting rows.
const maxEarly = 1 << 14

func (c *counts) begin(now int64) { *c = counts{first: true, told: now - countEvery, since: now} }

// change moves a goroutine to another state.
func (c *counts) change(from, to state) {
	c.now[from]--
	c.now[to]++
	c.dirty = true
}

// found counts a goroutine that existed all along.
func (c *counts) found(in state) {
	c.now[in]++
	c.lacks[in]++
	c.dirty = true
}

// tick adds rows before an event, if due.
func (c *counts) tick(s *Source, now int64) {
	if c.dirty && now-c.told >= countEvery {
		c.tell(s, c.since)
	}
	c.since = now
}

// tell adds rows at a time.
func (c *counts) tell(s *Source, at int64) {
	c.dirty, c.told = false, at
	if !c.first {
		s.countStates(at, &c.now)
		return
	}
	e := earlyCount{time: at}
	for i := range e.known {
		e.known[i] = c.now[i] - c.lacks[i]
	}
	c.early = append(c.early, e)
	if len(c.early) == maxEarly {
		c.complete(s)
	}
}

// complete is called when all goroutines are found.
func (c *counts) complete(s *Source) {
	if !c.first {
		return
	}
	for i := range c.early {
		e := &c.early[i]
		for k := range e.known {
			e.known[k] += c.lacks[k]
		}
		s.countStates(e.time, &e.known)
	}
	c.first, c.early = false, nil
}

func (c *counts) end(s *Source) {
	if c.dirty {
		c.tell(s, c.since)
	}
	c.complete(s)
}

func (s *Source) countStates(time int64, n *[numStates]int64) {
	at, all := s.clock.at(time), int64(0)
	for state := range stateCounters {
		if stateCounters[state].Name != "" && state != int(unknownState) {
			s.count(stateCounters[state], at, n[state])
			all += n[state]
		}
	}
	s.count(stateCounters[unknownState], at, all)
}

// metric takes the value of a metric.
func (s *Source) metric(ev *event) {
	c, ok := metricCounters[ev.name]
	if !ok {
		c = stream.Counter{Name: ev.name, Category: "Go"}
	}
	s.count(c, s.clock.at(ev.time), int64(min(ev.values[0], math.MaxInt64)))
}

// count adds a row if the value has changed.
func (s *Source) count(c stream.Counter, at stream.Time, value int64) {
	known := s.counters[c.Name]
	if known == nil {
		c.Process, c.Own = s.process, true // the runtime's names, as in a recording; none is the program's
		s.tables.Lock()
		known = &counter{id: s.tables.Counters.Intern(c), value: value - 1}
		s.tables.Unlock()
		s.counters[c.Name] = known
	}
	if known.value == value {
		return
	}
	known.value = value
	if s.leaveOut(stream.Counts) {
		return
	}
	b := s.rows.Row(stream.Series{Process: s.process, Kind: stream.Counts, Counter: known.id}, 0, at)
	b.Value, b.Number = append(b.Value, value), append(b.Number, 0)
}

// counter is a counter and its last value.
type counter struct {
	id    stream.CounterID
	value int64
}
