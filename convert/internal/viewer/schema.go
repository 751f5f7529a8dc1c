package viewer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// MarkerType is how the markers of one event are written.
type MarkerType struct {
	Event    *stream.Event
	Name     string // of the type; no other event has it
	Category int    // its place in the list
	head     []byte // the payload up to its first field
	fields   []field
	// goroutine is that of a marker, behind the fields; nil where none is known.
	goroutine *field
}

// field is one field of a payload.
type field struct {
	name   string
	key    []byte // a comma, the key, a colon
	format string
	value  valueKind
}

// specialTypes are the types for which the viewer has code of its own; some of
// it fails on payloads other than Firefox's.
var specialTypes = []string{
	"Network", "IPC", "CompositorScreenshot", "CompositorScreenshotWindowDestroyed", "GCSlice", "GCMajor", "GCMinor",
	"JS allocation", "Native allocation", "Log", "FileIO", "Text", "UserTiming", "tracing", "Jank", "BHR-detected hang",
	"PreferenceRead", "Styles", "DOMEvent", "VisualMetricProgress", "NoPayloadUserData",
}

// specialKeys are the keys of a payload that mean something to the viewer in
// every type.
var specialKeys = []string{"type", "stack", "cause", windowKey}

// windowKey is the key of the window in whose page a marker belongs.
const windowKey = "innerWindowID"

// IsSpecial reports whether the viewer has code of its own for a type.
func IsSpecial(typ string) bool { return slices.Contains(specialTypes, typ) }

// IsSpecialKey reports whether a key means something to the viewer in every
// type.
func IsSpecialKey(key string) bool { return slices.Contains(specialKeys, key) }

// MarkerTypes gives each event a type. Events of one name that differ get
// different ones, in the order of their ids.
func MarkerTypes(t *stream.Tables, categories Categories) []MarkerType {
	taken := make(map[string]bool)
	for _, name := range specialTypes {
		taken[name] = true
	}
	types := make([]MarkerType, len(t.Events))
	for i := range t.Events {
		e := &t.Events[i]
		name := typeName(e.Name, taken)
		taken[name] = true
		head := jsontext.AppendString([]byte(`{"type":`), name)
		types[i] = MarkerType{Event: e, Name: name, Category: categories.Place(e.Category).Category, head: head, fields: fieldsOf(e)}
		if t.HasGoroutines(stream.Markers) {
			types[i].goroutine = types[i].newField("goroutine", "integer")
		}
	}
	return types
}

// typeName is the first that is free of: name, gprof.name for a special type,
// name (2), name (3), …
func typeName(name string, taken map[string]bool) string {
	if name == "" {
		name = "(no name)"
	}
	if slices.Contains(specialTypes, name) {
		name = "gprof." + name
	}
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s (%d)", name, n)
	}
	return free
}

// fieldsOf gives each field of an event a key that no other field has. The first
// window has the key that means one.
func fieldsOf(e *stream.Event) []field {
	taken := make(map[string]bool)
	for _, key := range specialKeys {
		taken[key] = true
	}
	window := false // there is one, of which the viewer shows the page
	fields := make([]field, len(e.Fields))
	for i := range e.Fields {
		f := &e.Fields[i]
		name := f.Name
		if f.Format == stream.FormatWindow && !window {
			name, window, taken[windowKey] = windowKey, true, false
		}
		for name == "" || taken[name] {
			name += "_"
		}
		taken[name] = true
		key := append(jsontext.AppendString([]byte{','}, name), ':')
		format, value := formatOf(f)
		fields[i] = field{name, key, format, value}
	}
	return fields
}

// newField is a field beside those of the event.
func (m *MarkerType) newField(name, format string) *field {
	for slices.ContainsFunc(m.fields, func(f field) bool { return f.name == name }) {
		name += "_"
	}
	return &field{name: name, key: append(jsontext.AppendString([]byte{','}, name), ':'), format: format}
}

// WriteSchema writes the type's schema; fields is the key of the list of its
// fields, which is not the same in both formats.
func (m *MarkerType) WriteSchema(out *jsontext.Writer, fields string) {
	out.BeginObject()
	member(out, "name", m.Name)
	for _, label := range []struct{ key, text string }{
		{"chartLabel", m.Event.Chart}, {"tooltipLabel", m.Event.Tooltip}, {"tableLabel", m.Event.Table},
	} {
		if label.text != "" {
			member(out, label.key, m.template(label.text))
		}
	}
	writeDisplay(out, m.Event.Display)
	out.Key(fields)
	out.BeginArray()
	for i := range m.fields {
		writeField(out, &m.fields[i], &m.Event.Fields[i])
	}
	if m.goroutine != nil {
		writeField(out, m.goroutine, &stream.EventField{Name: m.goroutine.name})
	}
	out.EndArray()
	out.EndObject()
}

// reference matches a field in a label.
var reference = regexp.MustCompile(`marker\.data\.[^}\s?]+`)

// template changes the fields that a label refers to to their keys.
func (m *MarkerType) template(label string) string {
	const data = "marker.data."
	return reference.ReplaceAllStringFunc(label, func(ref string) string {
		name := strings.TrimPrefix(ref, data)
		i := slices.IndexFunc(m.Event.Fields, func(f stream.EventField) bool { return f.Name == name })
		if i < 0 {
			return ref
		}
		return data + m.fields[i].name
	})
}

// places are the names of the bits of a Location.
var places = []string{"marker-chart", "marker-table", "timeline-overview", "timeline-memory", "timeline-ipc", "timeline-fileio", "stack-chart"}

func writeDisplay(out *jsontext.Writer, display stream.Location) {
	out.Key("display")
	out.BeginArray()
	for bit, name := range places {
		if display&(1<<bit) != 0 {
			out.String(name)
		}
	}
	out.EndArray()
}

func writeField(out *jsontext.Writer, f *field, e *stream.EventField) {
	out.BeginObject()
	member(out, "key", f.name)
	if label := cmp.Or(e.Label, e.Name); label != f.name { // the default is the key
		member(out, "label", label)
	}
	member(out, "format", f.format)
	if e.Searchable {
		out.Key("searchable")
		out.Bool(true)
	}
	if e.Hidden {
		out.Key("hidden")
		out.Bool(true)
	}
	out.EndObject()
}
