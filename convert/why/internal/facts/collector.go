package facts

import (
	"cmp"
	"slices"

	"gprof/stream"
)

// maxCounters bounds the counters of a process: those of the recorder, of threads and of the program.
const maxCounters = 1000

// maxTriggers bounds what is kept of markers about triggers.
const maxTriggers = 1000

// Collector makes facts of segments, one process after the other.
type Collector struct {
	from, to stream.Time // what is looked at; 0: all
	tables   *stream.Tables
	now      Facts
	counters map[stream.CounterID]*Counter
	looked   [2]stream.Time // when waits were looked at first and last
	markers  markers
	messages messages
}

// New returns a Collector of the events from from on and before to, 0 for all. The error is a
// [stream.ErrMemory].
func New(t *stream.Tables, from, to stream.Time) (*Collector, error) {
	if err := t.Reserve(stream.RowBytes{Stack: stackBytes}.In(t)); err != nil {
		return nil, err
	}
	waits := newStacks(t)
	waits.Waits = true
	return &Collector{from: from, to: to, tables: t,
		now: Facts{CPU: newStacks(t), Waits: waits, Grown: newStacks(t), Made: newStacks(t)}}, nil
}

// Begin begins a process.
func (c *Collector) Begin(id stream.ProcessID) {
	p := c.tables.Process(id)
	from, end := max(p.Start, p.Earliest, c.from), p.End
	if c.to != 0 {
		end = min(end, c.to)
	}
	line := NewTimeline(from, end)
	stacks := []*Stacks{c.now.CPU, c.now.Waits, c.now.Grown, c.now.Made}
	for _, s := range stacks {
		s.reset(line)
	}
	c.looked = [2]stream.Time{}
	c.now = Facts{ID: id, Process: p, Time: line, CPU: stacks[0], Waits: stacks[1], Grown: stacks[2], Made: stacks[3]}
	c.counters = map[stream.CounterID]*Counter{}
	c.markers.reset(line)
	c.messages.reset(line)
}

// Add adds the rows of a segment of the process.
func (c *Collector) Add(b *stream.Batch) {
	c.now.Rows[b.Series.Kind] += int64(b.Len())
	switch b.Series.Kind {
	case stream.Samples:
		c.samples(b)
	case stream.Waits:
		c.waits(b)
	case stream.Allocations:
		c.allocations(b)
	case stream.Markers:
		c.marked(b)
	case stream.Counts:
		c.counts(b)
	}
}

// samples adds CPU samples; one whose time is not known stands for the time between two.
func (c *Collector) samples(b *stream.Batch) {
	for i, stack := range b.Stack {
		cpu := b.CPU[i]
		if cpu < 0 {
			cpu = b.Weight[i] * c.now.Process.Interval
		}
		c.now.CPU.add(stack, c.now.Time.At(b.Time[i]), float64(cpu)/1e9)
	}
}

// waits adds rows of waiting goroutines, each of which tells of the time since the look before.
func (c *Collector) waits(b *stream.Batch) {
	for i, stack := range b.Stack {
		since := b.Time[i]
		if b.Number[i] > 0 {
			since -= stream.Time(b.Value[i] / b.Number[i])
		}
		c.now.Waits.spread(c.now.Time, stack, since, b.Time[i], float64(b.Value[i])/1e9)
		if c.looked[0] == 0 || since < c.looked[0] {
			c.looked[0] = since
		}
		c.looked[1] = max(c.looked[1], b.Time[i])
	}
}

// allocations adds what was allocated and freed; what was there before the recording is no growth.
func (c *Collector) allocations(b *stream.Batch) {
	for i, stack := range b.Stack {
		if b.Phase[i] == stream.PhaseStart {
			continue
		}
		step := c.now.Time.At(b.Time[i])
		c.now.Grown.add(stack, step, float64(b.Value[i]))
		if b.Value[i] > 0 {
			c.now.Made.add(stack, step, float64(b.Value[i]))
		}
	}
}

// marked adds markers, and log records apart from them.
func (c *Collector) marked(b *stream.Batch) {
	if marks := c.tables.TriggerMarks(b); marks != nil {
		room := maxTriggers - len(c.now.Triggers)
		c.now.Triggers = append(c.now.Triggers, marks[:min(len(marks), room)]...)
		return
	}
	e := c.tables.Event(b.Series.Event)
	if level, text, ok := logFields(e); ok {
		c.messages.add(b, level, text)
		return
	}
	if !ownEvents[c.tables.Categories.At(e.Category).Name] {
		c.markers.add(b, e)
	}
}

// ownEvents are the categories of events that the recorder makes by itself: they tell nothing of the program's
// work.
var ownEvents = map[string]bool{"GC": true, "Profiler": true}

// counts adds values of a counter.
func (c *Collector) counts(b *stream.Batch) {
	one := c.counters[b.Series.Counter]
	if one == nil {
		if len(c.counters) >= maxCounters {
			return
		}
		one = &Counter{Counter: c.tables.Counters.At(b.Series.Counter), line: c.now.Time}
		c.counters[b.Series.Counter] = one
	}
	for i := range b.Len() {
		one.add(b.Time[i], b.Value[i], b.Number[i])
	}
}

// End returns the facts of the process. They are valid until the next one begins.
func (c *Collector) End() *Facts {
	c.now.Waits.Covered = Series{}
	c.now.Time.spread(&c.now.Waits.Covered, c.looked[0], c.looked[1], float64(c.looked[1]-c.looked[0])/1e9)
	for _, one := range c.counters {
		one.finish()
		c.now.Counters = append(c.now.Counters, one)
	}
	slices.SortFunc(c.now.Counters, func(a, b *Counter) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Category, b.Category))
	})
	c.now.Markers, c.now.Messages = c.markers.all(), c.messages.all()
	return &c.now
}
