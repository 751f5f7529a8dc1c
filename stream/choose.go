package stream

import "fmt"

// ofTracks keeps what belongs to tracks of certain names.
type ofTracks struct {
	tables  *Tables
	names   Patterns
	redact  *Redactor
	known   []choice // by TrackID
	matched bool
}

// choice is whether something matches, once that was asked.
type choice uint8

const (
	unasked choice = iota
	yes
	no
)

func chosen(match bool) choice {
	if match {
		return yes
	}
	return no
}

// Tracks returns a Source of the events of src on tracks whose names match, and
// of those that belong to no track. It ends with an [ErrNoMatch] if no track is
// called so. That lists the names that there are, but for those that redact, if
// it is set, makes unreadable.
func Tracks(src Source, names Patterns, redact *Redactor) Source {
	o := &ofTracks{tables: src.Tables(), names: names, redact: redact}
	return newFiltered(src, filter{name: "track", keep: o.keep, end: o.end})
}

func (o *ofTracks) keep(b *Batch, rows []int32) []int32 {
	if b.Series.Kind.Tracked() && !o.wants(b.Series.Track) {
		return rows
	}
	return allRows(b, rows)
}

func (o *ofTracks) wants(id TrackID) bool {
	o.known = grown(o.known, int(id))
	if o.known[id] == unasked {
		o.tables.Lock()
		o.known[id] = chosen(o.names.Match(o.tables.Tracks.At(id).Name))
		o.tables.Unlock()
	}
	o.matched = o.matched || o.known[id] == yes
	return o.known[id] == yes
}

// grown is list with a place i.
func grown(list []choice, i int) []choice {
	if i >= len(list) {
		list = append(list, make([]choice, i+1-len(list))...)
	}
	return list
}

func (o *ofTracks) end(t *Tables) error {
	if o.matched {
		return nil
	}
	var tracks []Track
	for id := range o.known {
		if o.known[id] == no {
			tracks = append(tracks, t.Tracks.At(TrackID(id)))
		}
	}
	names, hidden := o.redact.Readable(t, tracks)
	if hidden > 0 {
		names = append(names, fmt.Sprintf("(%d whose names are redacted)", hidden))
	}
	return NoMatch(fmt.Sprintf("no track with events is called %v", o.names), names)
}

// ofCategories keeps what belongs to certain categories.
type ofCategories struct {
	tables  *Tables
	names   Patterns
	stacks  []choice        // by StackID
	events  []choice        // by EventID
	seen    map[string]bool // names
	matched bool
}

// Categories returns a Source of the samples of src whose innermost frame is of
// a category that matches, of the markers whose event is, and of all that has no
// category. What is of none is of [Other]. It ends with an [ErrNoMatch] if
// nothing matches.
func Categories(src Source, names Patterns) Source {
	o := &ofCategories{tables: src.Tables(), names: names, seen: make(map[string]bool)}
	return newFiltered(src, filter{name: "category", keep: o.keep, end: o.end})
}

func (o *ofCategories) keep(b *Batch, rows []int32) []int32 {
	switch b.Series.Kind {
	case Samples:
		for i, stack := range b.Stack {
			if o.wantsStack(stack) {
				rows = append(rows, int32(i))
			}
		}
		return rows
	case Markers:
		if !o.wantsEvent(b.Series.Event) {
			return rows
		}
	}
	return allRows(b, rows)
}

func (o *ofCategories) wantsStack(id StackID) bool {
	o.stacks = grown(o.stacks, int(id))
	if o.stacks[id] == unasked {
		o.tables.Lock()
		category := CategoryID(0)
		if id != 0 {
			_, frame := o.tables.Stacks.At(id)
			category = o.tables.Frames.At(frame).Category
		}
		o.stacks[id] = o.choose(category)
		o.tables.Unlock()
	}
	return o.stacks[id] == yes
}

func (o *ofCategories) wantsEvent(id EventID) bool {
	o.events = grown(o.events, int(id))
	if o.events[id] == unasked {
		o.tables.Lock()
		o.events[id] = o.choose(o.tables.Event(id).Category)
		o.tables.Unlock()
	}
	return o.events[id] == yes
}

// choose asks for the name of a category, and for that with its part; the tables
// are locked.
func (o *ofCategories) choose(id CategoryID) choice {
	row := Other
	if id != 0 {
		row = o.tables.Categories.At(id)
	}
	o.seen[row.Title()] = true
	match := o.names.Match(row.Name) || o.names.Match(row.Title())
	o.matched = o.matched || match
	return chosen(match)
}

func (o *ofCategories) end(*Tables) error {
	if o.matched {
		return nil
	}
	var names []string
	for name := range o.seen {
		names = append(names, name)
	}
	return NoMatch(fmt.Sprintf("no category of a sample or a marker is called %v", o.names), names)
}
