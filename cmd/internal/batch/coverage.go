package batch

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"gprof/convert"
	"gprof/stream"
)

// positions are positions in recordings, by instance in hexadecimal as in the journal.
type positions map[string]stream.Ranges

// coverage is which positions are in the tables that a batch has written. Rows that two
// snapshots of one process both have must count once there: they are in the output that
// was made first.
type coverage struct {
	mu   sync.Mutex
	held map[recording][]holding
	of   map[string][]recording // by key of the outcome
}

// recording is that of a process, in a data set or in the outputs of one format.
type recording struct{ group, instance string }

// holding is the part of a recording that an output holds.
type holding struct {
	key    string // of the outcome
	ranges stream.Ranges
}

// newCoverage returns the coverage by existing outputs; of those made from this directory
// of inputs, only by those that need not be made again with other settings.
func newCoverage(j *journal, settings, from string) *coverage {
	c := &coverage{held: map[recording][]holding{}, of: map[string][]recording{}}
	for _, o := range j.done {
		stays := o.Settings == settings || o.DataSet && o.From != from
		if len(o.Covers) > 0 && stays && j.whole(o) {
			c.hold(o)
		}
	}
	return c
}

// recording is the recording of an instance in the outcome's group.
func (o *outcome) recording(instance string) recording {
	if o.DataSet {
		return recording{o.Output + "/", instance}
	}
	return recording{strings.TrimPrefix(o.Output, o.Input), instance}
}

// hold notes which positions an output holds.
func (c *coverage) hold(o outcome) {
	for instance, ranges := range o.Covers {
		key := o.recording(instance)
		c.held[key] = append(c.held[key], holding{o.key(), ranges})
		c.of[o.key()] = append(c.of[o.key()], key)
	}
}

// others returns the positions of a recording that other outputs hold.
func (c *coverage) others(o *outcome, instance string) stream.Ranges {
	var all stream.Ranges
	for _, h := range c.held[o.recording(instance)] {
		if h.key != o.key() {
			all = append(all, h.ranges...)
		}
	}
	return stream.Union(all...)
}

// elsewhere returns the positions of processes that other outputs hold.
func (c *coverage) elsewhere(o *outcome, instances []uint64) convert.Elsewhere {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := convert.Elsewhere{}
	for _, instance := range instances {
		if ranges := c.others(o, instanceName(instance)); len(ranges) > 0 {
			e[instance] = ranges
		}
	}
	return e
}

// made notes, when o was made of processes, which positions it holds and which it left to
// other outputs.
func (c *coverage) made(o *outcome, processes []stream.Process, e convert.Elsewhere) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range c.of[o.key()] { // held before
		c.held[key] = slices.DeleteFunc(c.held[key], func(h holding) bool { return h.key == o.key() })
	}
	delete(c.of, o.key())
	o.Covers, o.Relies = positions{}, positions{}
	for i := range processes {
		p := &processes[i]
		name, rest := instanceName(p.Instance), p.Read.Minus(e[p.Instance])
		if len(rest) > 0 {
			o.Covers[name] = rest
		}
		if gone := p.Read.Minus(rest); len(gone) > 0 {
			o.Relies[name] = gone
		}
	}
	c.hold(*o)
}

// stands reports whether the positions that an output left out are still in others.
func (c *coverage) stands(o *outcome) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for instance, ranges := range o.Relies {
		if len(ranges.Minus(c.others(o, instance))) > 0 {
			return false
		}
	}
	return true
}

func instanceName(instance uint64) string { return fmt.Sprintf("%016x", instance) }
