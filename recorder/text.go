package recorder

import (
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/shard"
)

// Events for names that find no room, because a program makes up names as it runs.
var (
	otherMark = NewEvent1("other", String("name").Searchable().Name(), Type(registry.MarkType))
	otherText = NewEvent2("other", String("name").Searchable().Name(), Secret("text").Searchable(),
		Type(registry.TextType), ChartLabel(registry.TextLabel), TableLabel(registry.TextLabel))
)

// MarkOption says more about a marker that [Mark] or [Text] makes.
type MarkOption struct {
	sets       optionSet
	phase      rawformat.Phase
	begin, end Time
	track      *registry.Track
	category   MarkerCategory
	stack      Stack
}

type optionSet uint8

const (
	setsTime optionSet = 1 << iota
	setsTrack
	setsCategory
	setsStack
	setsHere
)

// At makes the marker one of that time instead of now.
func At(t Time) MarkOption {
	return MarkOption{sets: setsTime, phase: rawformat.PhaseInstant, begin: t, end: t}
}

// Between makes the marker an interval from begin to end. See [Event.MarkAt] for times.
func Between(begin, end Time) MarkOption {
	return MarkOption{sets: setsTime, phase: rawformat.PhaseInterval, begin: begin, end: end}
}

// StartsAt makes the marker the start, at that time, of something whose end is another
// marker of the same name and category; see [Event.Start].
func StartsAt(t Time) MarkOption {
	return MarkOption{sets: setsTime, phase: rawformat.PhaseStart, begin: t, end: t}
}

// EndsAt makes the marker the end of what a marker with [StartsAt] began.
func EndsAt(t Time) MarkOption {
	return MarkOption{sets: setsTime, phase: rawformat.PhaseEnd, begin: t, end: t}
}

// OnTrack aims the marker at a track, as [Event.On] does.
func OnTrack(t *Track) MarkOption { return MarkOption{sets: setsTrack, track: t.aim()} }

// InCategory gives the marker a category.
func InCategory(c MarkerCategory) MarkOption { return MarkOption{sets: setsCategory, category: c} }

// Here gives the marker the stack where it is made.
func Here() MarkOption { return MarkOption{sets: setsHere} }

// OfStack gives the marker a stack that was captured before, as [Event.From] does. It
// allocates.
func OfStack(s Stack) MarkOption { return MarkOption{sets: setsStack, stack: s} }

// apply adds what another option says; the last one counts.
func (o *MarkOption) apply(more *MarkOption) {
	o.sets |= more.sets
	switch more.sets {
	case setsTime:
		o.phase, o.begin, o.end = more.phase, more.begin, more.end
	case setsTrack:
		o.track = more.track
	case setsCategory:
		o.category = more.category
	case setsStack:
		o.stack = more.stack
	}
}

// Mark records an instant by name, or what options say. Its type is Mark, whatever its name.
// The first use of a name in a category defines an event, which writes to the dictionary.
// There is room for 1,024; markers of further names have their names in a field. Events made
// by [NewEvent] have no such limit.
func Mark(name string, options ...MarkOption) {
	if shard.Current.Load() == nil {
		return
	}
	if d := (registry.Untyped{Name: name}).Definition(); d != nil && len(options) == 0 {
		shard.Emit(shard.Handle{Event: d}, rawformat.KindInstant, nil, nil, 0)
		return
	}
	markUntyped(registry.Untyped{Name: name}, "", MarkOption{}, options)
}

// Text records an instant with a text, by name, or what options say; see [Mark]. Its type is
// Text. The text is cut at 1 KiB. It might reveal anything, so gprof-convert --redact treats
// it as a secret.
func Text(name, text string, options ...MarkOption) {
	if shard.Current.Load() != nil {
		markUntyped(registry.Untyped{Name: name, Text: true}, text, MarkOption{}, options)
	}
}

// Mark records an instant on the track; see [Mark].
func (t *Track) Mark(name string, options ...MarkOption) {
	if shard.Current.Load() != nil {
		markUntyped(registry.Untyped{Name: name}, "", OnTrack(t), options)
	}
}

// Text records an instant with a text on the track; see [Text].
func (t *Track) Text(name, text string, options ...MarkOption) {
	if shard.Current.Load() != nil {
		markUntyped(registry.Untyped{Name: name, Text: true}, text, OnTrack(t), options)
	}
}

// markUntyped makes a marker of an event that it finds by name.
func markUntyped(u registry.Untyped, text string, o MarkOption, more []MarkOption) {
	for i := range more {
		o.apply(&more[i])
	}
	u.Category, u.Stack = o.category.registered, o.sets&setsHere != 0
	h, a, b := shard.Handle{Event: u.Definition(), Track: o.track}, shard.Pack(text), shard.Arg{}
	if h.Event == nil {
		if h.Event, a = otherMark.h.Event, shard.Pack(u.Name); u.Text {
			h.Event, b = otherText.h.Event, shard.Pack(text)
		}
		if h.Event = h.Event.In(u.Category); u.Stack {
			h.Event = h.Event.WithStack()
		}
	}
	if h.Event = h.Event.From(o.stack.callers); o.sets&setsTime != 0 {
		h.Place(o.phase, o.begin, o.end, a, b, nil)
		return
	}
	h.Record(rawformat.KindInstant, a, b, nil)
}
