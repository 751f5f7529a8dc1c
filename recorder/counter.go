package recorder

import (
	"sync/atomic"

	"gprof/rawformat"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/registry"
)

// Counter is a number that the recorder reads regularly, see [Options.CounterHz]. Setting
// it costs an atomic store, whether anything records or not. All methods work on nil.
type Counter struct {
	value atomic.Int64
	spec  counters.Spec
}

// CounterOption is a property of a counter.
type CounterOption func(*counters.Spec)

// In sets the counter's unit. Default: a whole number.
func In(u Unit) CounterOption { return func(c *counters.Spec) { c.Unit = u } }

// Total makes the counter a total since the start, which never falls. Default: a level.
func Total() CounterOption { return func(c *counters.Spec) { c.Mode = rawformat.CounterTotal } }

// Describe says what the counter counts.
func Describe(text string) CounterOption { return func(c *counters.Spec) { c.Description = text } }

// Group puts the counter into a category, beside others, on screen.
func Group(category string) CounterOption { return func(c *counters.Spec) { c.Category = category } }

// NewCounter defines a counter. Like events, counters are meant to be package-level
// variables.
func NewCounter(name string, opts ...CounterOption) *Counter {
	c := &Counter{spec: counters.Spec{Name: name}}
	for _, o := range opts {
		o(&c.spec)
	}
	registry.Defined.AddCounter(registry.Counter{Spec: c.spec, Value: c.Value})
	return c
}

// Set sets the counter's value.
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

// Value is the counter's value, 0 for nil.
func (c *Counter) Value() int64 {
	if c == nil {
		return 0
	}
	return c.value.Load()
}
