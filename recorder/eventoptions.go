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

// Places for [Display].
const (
	InChart    Location = rawformat.ShowChart    // the marker chart
	InTable    Location = rawformat.ShowTable    // the marker table
	InTimeline Location = rawformat.ShowTimeline // the overview of the track
	InMemory   Location = rawformat.ShowMemory   // the memory timeline
	InIPC      Location = rawformat.ShowIPC
	InFileIO   Location = rawformat.ShowFileIO
	InStack    Location = rawformat.ShowStack // the stack chart
)

// Category puts the event into a group. The colours are Firefox Profiler's: transparent,
// purple, green, orange, yellow, lightblue, blue, brown, magenta, red, lightred, darkgrey
// and grey.
func Category(name, color string) EventOption {
	return func(e *registry.EventSpec) { e.Category[0], e.Category[1] = name, color }
}

// Subcategory names a part of the category, which front ends show beside it. Without
// [Category] it does nothing.
func Subcategory(name string) EventOption {
	return func(e *registry.EventSpec) { e.Category[2] = name }
}

// Type makes the event one of a type, the same for several events that have the same fields
// and options but names and categories of their own. Front ends show what they say of a type
// once, and treat its events alike. Firefox Profiler has code of its own for some types,
// such as Network and Text. Without Type, an event is the only one of its type.
func Type(name string) EventOption { return func(e *registry.EventSpec) { e.Type = name } }

// Display says where the event is shown. Default: chart and table.
func Display(places Location) EventOption { return func(e *registry.EventSpec) { e.Display = places } }

// ChartLabel is the text of the event's markers in the chart: a template of Firefox
// Profiler's marker schema, such as "{marker.name} {marker.data.file}".
func ChartLabel(template string) EventOption {
	return func(e *registry.EventSpec) { e.Chart = template }
}

// TooltipLabel is the text in tooltips, a template as in [ChartLabel].
func TooltipLabel(template string) EventOption {
	return func(e *registry.EventSpec) { e.Tooltip = template }
}

// TableLabel is the text in the table, a template as in [ChartLabel].
func TableLabel(template string) EventOption {
	return func(e *registry.EventSpec) { e.Table = template }
}

// Description says what the event means, in a sentence or two, to people who look at its
// markers.
func Description(text string) EventOption {
	return func(e *registry.EventSpec) { e.Description = text }
}

// Nested promises that intervals of the event on one track never overlap partly: each lies
// beside or inside another, as calls do. Front ends may draw them like calls.
func Nested() EventOption { return func(e *registry.EventSpec) { e.Flags |= rawformat.EventNested } }

// WithStack records the stack at which the event was marked. A known stack costs some tens
// of ns, a new one some µs, because it is written out.
func WithStack() EventOption { return func(e *registry.EventSpec) { e.Stack = true } }

func newEvent(name string, opts []EventOption, fields ...registry.FieldSpec) shard.Handle {
	e := registry.EventSpec{Name: name, Display: InChart | InTable, Fields: fields}
	for _, o := range opts {
		o(&e)
	}
	return shard.Handle{Event: registry.Defined.Event(&e)}
}
