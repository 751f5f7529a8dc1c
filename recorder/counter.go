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

// counterSpec is what the dictionary says of a counter.
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
