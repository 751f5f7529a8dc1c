package filter

import (
	"fmt"

	"gprof/stream"
)

// categoryFilter keeps the events of certain categories.
type categoryFilter struct {
	tables  *stream.Tables
	names   Patterns
	stacks  []choice        // by StackID
	events  []choice        // by EventID
	seen    map[string]bool // names
	matched bool
}

// ByCategory returns a Source of the samples of src whose innermost frame is of a
// category that matches, of the markers whose event is, and of all rows without a
// category, such as counts. Frames and events without one are of [Other]. The Source ends
// with an [ErrNoMatch] if nothing matches.
func ByCategory(src stream.Source, names Patterns) stream.Source {
	o := &categoryFilter{tables: src.Tables(), names: names, seen: make(map[string]bool)}
	return newFilter(src, rule{name: "category", keep: o.keep, end: o.end})
}

func (o *categoryFilter) keep(b *stream.Batch, rows []int32) []int32 {
	switch b.Series.Kind {
	case stream.Samples:
		for i, stack := range b.Stack {
			if o.wantsStack(stack) {
				rows = append(rows, int32(i))
			}
		}
		return rows
	case stream.Markers:
		if !o.wantsEvent(b.Series.Event) {
			return rows
		}
	}
	return allRows(b, rows)
}

func (o *categoryFilter) wantsStack(id stream.StackID) bool {
	o.stacks = grown(o.stacks, int(id))
	if o.stacks[id] == unasked {
		o.tables.Lock()
		category := stream.CategoryID(0)
		if id != 0 {
			_, frame := o.tables.Stacks.At(id)
			category = o.tables.Frames.At(frame).Category
		}
		o.stacks[id] = o.choose(category)
		o.tables.Unlock()
	}
	return o.stacks[id] == yes
}

func (o *categoryFilter) wantsEvent(id stream.EventID) bool {
	o.events = grown(o.events, int(id))
	if o.events[id] == unasked {
		o.tables.Lock()
		o.events[id] = o.choose(o.tables.Event(id).Category)
		o.tables.Unlock()
	}
	return o.events[id] == yes
}

// choose matches the name of a category, with and without its part; the tables are
// locked.
func (o *categoryFilter) choose(id stream.CategoryID) choice {
	row := stream.Other
	if id != 0 {
		row = o.tables.Categories.At(id)
	}
	o.seen[row.Title()] = true
	match := o.names.Match(row.Name) || o.names.Match(row.Title())
	o.matched = o.matched || match
	return chosen(match)
}

func (o *categoryFilter) end(*stream.Tables) error {
	if o.matched {
		return nil
	}
	var names []string
	for name := range o.seen {
		names = append(names, name)
	}
	return NoMatch(fmt.Sprintf("no category of a sample or a marker is called %v", o.names), names)
}
