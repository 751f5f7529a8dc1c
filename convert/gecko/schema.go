package gecko

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// markerType is how the markers of one event are written.
type markerType struct {
	event    *stream.Event
	name     string // of the type; no other event has it
	category int
	head     []byte // the payload up to its first field
	fields   []field
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
var specialKeys = []string{"type", "stack", "cause", "innerWindowID"}

// markerTypes gives each event a type. Events of one name that differ get
// different ones, in the order of their ids.
func markerTypes(t *stream.Tables) []markerType {
	categories := categoriesOf(t)
	taken := make(map[string]bool)
	for _, name := range specialTypes {
		taken[name] = true
	}
	types := make([]markerType, len(t.Events))
	for i := range t.Events {
		e := &t.Events[i]
		name := typeName(e.Name, taken)
		taken[name] = true
		head := jsontext.AppendString([]byte(`{"type":`), name)
		types[i] = markerType{event: e, name: name, category: categories[e.Category], head: head, fields: fieldsOf(e)}
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

// fieldsOf gives each field of an event a key that no other field has.
func fieldsOf(e *stream.Event) []field {
	taken := make(map[string]bool)
	for _, key := range specialKeys {
		taken[key] = true
	}
	fields := make([]field, len(e.Fields))
	for i := range e.Fields {
		f := &e.Fields[i]
		name := f.Name
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

// writeSchemas writes the schemas of all events. Those of the first process
// hold for all.
func (s *Sink) writeSchemas() {
	s.out.Key("markerSchema")
	s.out.BeginArray()
	if s.process == 1 {
		for i := range s.types {
			s.writeSchema(&s.types[i])
		}
	}
	s.out.EndArray()
}

func (s *Sink) writeSchema(m *markerType) {
	s.out.BeginObject()
	s.member("name", m.name)
	for _, label := range []struct{ key, text string }{
		{"chartLabel", m.event.Chart}, {"tooltipLabel", m.event.Tooltip}, {"tableLabel", m.event.Table},
	} {
		if label.text != "" {
			s.member(label.key, m.template(label.text))
		}
	}
	s.writeDisplay(m.event.Display)
	s.out.Key("data")
	s.out.BeginArray()
	for i := range m.fields {
		s.writeField(&m.fields[i], &m.event.Fields[i])
	}
	s.out.EndArray()
	s.out.EndObject()
}

// reference matches a field in a label.
var reference = regexp.MustCompile(`marker\.data\.[^}\s?]+`)

// template changes the fields that a label refers to to their keys.
func (m *markerType) template(label string) string {
	const data = "marker.data."
	return reference.ReplaceAllStringFunc(label, func(ref string) string {
		name := strings.TrimPrefix(ref, data)
		i := slices.IndexFunc(m.event.Fields, func(f stream.EventField) bool { return f.Name == name })
		if i < 0 {
			return ref
		}
		return data + m.fields[i].name
	})
}

// places are the names of the bits of a Location.
var places = []string{"marker-chart", "marker-table", "timeline-overview", "timeline-memory", "timeline-ipc", "timeline-fileio", "stack-chart"}

func (s *Sink) writeDisplay(display stream.Location) {
	s.out.Key("display")
	s.out.BeginArray()
	for bit, name := range places {
		if display&(1<<bit) != 0 {
			s.out.String(name)
		}
	}
	s.out.EndArray()
}

func (s *Sink) writeField(f *field, e *stream.EventField) {
	s.out.BeginObject()
	s.member("key", f.name)
	if label := cmp.Or(e.Label, e.Name); label != f.name { // the default is the key
		s.member("label", label)
	}
	s.member("format", f.format)
	if e.Searchable {
		s.out.Key("searchable")
		s.out.Bool(true)
	}
	if e.Hidden {
		s.out.Key("hidden")
		s.out.Bool(true)
	}
	s.out.EndObject()
}
