// Package facts is what one process of a recording did, over time: its counters, its CPU
// time and its waits by where in the code they were, its markers and what it logged.
//
// Time is cut into a fixed number of steps, so that facts take memory for what is unique in a
// recording, not for how long it is. A [Collector] makes them of the segments of one process
// after the other.
package facts

import (
	"cmp"
	"slices"

	"gprof/stream"
)

// Facts are what is known of one process.
type Facts struct {
	ID      stream.ProcessID
	Process *stream.Process
	Time    Timeline

	Counters []*Counter           // in the order of their names
	CPU      *Stacks              // CPU time in seconds, by samples
	Waits    *Stacks              // seconds for which goroutines waited
	Grown    *Stacks              // bytes of the heap that were allocated less those that were freed
	Made     *Stacks              // bytes of the heap that were allocated
	Markers  []*Marker            // those that took most time first
	Messages []*Message           // those that were logged most first
	Triggers []stream.TriggerMark // the first of them

	Rows [stream.Pages + 1]int64 // by kind
}

// Counter returns a counter of the recorder's by its name; nil if it was not recorded.
func (f *Facts) Counter(name string) *Counter {
	at, found := slices.BinarySearchFunc(f.Counters, name, func(c *Counter, name string) int { return cmp.Compare(c.Name, name) })
	if !found || !f.Counters[at].Own {
		return nil
	}
	return f.Counters[at]
}

// Has reports whether there are rows of a kind.
func (f *Facts) Has(kind stream.Kind) bool { return f.Rows[kind] > 0 }
