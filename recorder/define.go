package recorder

import (
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/shard"
)

// EventOption is a property of an event.
type EventOption func(*registry.EventSpec)

// Location is a set of places where front ends show an event.
type Location = rawformat.Location

// Places of [Display].
const (
	InChart    Location = rawformat.ShowChart    // marker chart
	InTable    Location = rawformat.ShowTable    // marker table
	InTimeline Location = rawformat.ShowTimeline // overview of the track
	InMemory   Location = rawformat.ShowMemory   // memory timeline
	InIPC      Location = rawformat.ShowIPC
	InFileIO   Location = rawformat.ShowFileIO
	InStack    Location = rawformat.ShowStack // stack chart
)

// Category groups events. The colours are Firefox Profiler's: transparent,
// purple, green, orange, yellow, lightblue, blue, brown, magenta, red,
// lightred, darkgrey and grey.
func Category(name, color string) EventOption {
	return func(e *registry.EventSpec) { e.Category[0], e.Category[1] = name, color }
}

// Subcategory names a part of the category, which front ends show beside it.
// Without [Category] it does nothing.
func Subcategory(name string) EventOption {
	return func(e *registry.EventSpec) { e.Category[2] = name }
}

// Display says where the event is shown. Without it: chart and table.
func Display(places Location) EventOption { return func(e *registry.EventSpec) { e.Display = places } }

// ChartLabel, TooltipLabel and TableLabel are templates of Firefox Profiler's
// marker schema, such as "{marker.name} {marker.data.file}".
func ChartLabel(template string) EventOption {
	return func(e *registry.EventSpec) { e.Chart = template }
}

// TooltipLabel: see [ChartLabel].
func TooltipLabel(template string) EventOption {
	return func(e *registry.EventSpec) { e.Tooltip = template }
}

// TableLabel: see [ChartLabel].
func TableLabel(template string) EventOption {
	return func(e *registry.EventSpec) { e.Table = template }
}

// Description says what the event is, in a sentence or two for who looks at its
// markers.
func Description(text string) EventOption {
	return func(e *registry.EventSpec) { e.Description = text }
}

// Nested says that intervals of the event never overlap in part on one track: they
// lie beside or in each other, as calls do, and may be drawn like that.
func Nested() EventOption { return func(e *registry.EventSpec) { e.Flags |= rawformat.EventNested } }

// WithStack records where the event was marked. A stack that was seen before
// costs some tens of ns, a new one some µs, because it is written out.
func WithStack() EventOption { return func(e *registry.EventSpec) { e.Stack = true } }

func newEvent(name string, opts []EventOption, fields ...registry.FieldSpec) shard.Handle {
	e := registry.EventSpec{Name: name, Display: InChart | InTable, Fields: fields}
	for _, o := range opts {
		o(&e)
	}
	return shard.Handle{Event: registry.Defined.Event(&e)}
}
