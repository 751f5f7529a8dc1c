package viewer

import (
	"fmt"
	"slices"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// Dialect says in which of the viewer's two formats markers are written; some
// payloads differ.
type Dialect bool

const (
	Processed Dialect = false
	Gecko     Dialect = true
)

// MarkerType is how the markers of one event are written.
type MarkerType struct {
	Event    *stream.Event
	Name     string // of the type
	Category int    // its place in the list

	head   []byte // the payload up to its first field
	plain  []byte // the same for a marker that the viewer could not take as one of the type
	needs  needs  // what it takes for granted
	name   int    // argument that is the name of a marker; -1 none
	fields []field
	// goroutine is that of a marker, behind the fields; nil where none is known.
	goroutine *field

	schema *schema // of the type; nil if nothing is said of it
}

// field is one field of a payload.
type field struct {
	arg    int // which argument
	name   string
	key    []byte // a comma, the key, a colon
	format string
	value  valueKind
	listed *stream.EventField // in the schema; nil: it is not named there
}

// specialKeys are the keys of a payload that mean something to the viewer in
// every type.
var specialKeys = []string{"type", "stack", "cause", windowKey}

// windowKey is the key of the window in whose page a marker belongs.
const windowKey = "innerWindowID"

// IsSpecialKey reports whether a key means something to the viewer in every
// type.
func IsSpecialKey(key string) bool { return slices.Contains(specialKeys, key) }

// MarkerTypes gives each event a type: the one that it names, else one of its
// own. Events of one name that differ get different ones then, in the order of
// their ids.
//
// Events of one type share a schema. It is that of the first of them that is not
// bare, with the fields of all, of which the first that has it says how it is
// written.
func MarkerTypes(t *stream.Tables, categories Categories, dialect Dialect) []MarkerType {
	taken := takenNames(t.Events)
	schemas := map[string]*schema{}
	types := make([]MarkerType, len(t.Events))
	for i := range t.Events {
		m := &types[i]
		*m = MarkerType{Event: &t.Events[i], Category: categories.Place(t.Events[i].Category).Category, name: -1}
		m.setName(taken)
		m.fields = fieldsOf(m.Event)
		if !m.Event.Bare {
			m.schema = schemaOf(schemas, m)
		}
	}
	for i := range types {
		m := &types[i]
		m.shareFields(schemas[m.Name])
		m.special(dialect)
		if t.HasGoroutines(stream.Markers) {
			m.goroutine = m.newField("goroutine", "integer")
		}
	}
	return types
}

// takenNames are the names that no event without a type may have: those of the
// viewer, and those that other events name.
func takenNames(events []stream.Event) map[string]bool {
	taken := make(map[string]bool)
	for _, name := range specialTypes {
		taken[name] = true
	}
	for i := range events {
		if name := events[i].Type; !isOtherKind(name) {
			taken[name] = true
		}
	}
	delete(taken, "")
	return taken
}

// setName gives the type its name, and what a payload begins with.
func (m *MarkerType) setName(taken map[string]bool) {
	if m.Name = m.Event.Type; m.Name == "" || isOtherKind(m.Name) {
		m.Name = typeName(m.Event.Name, taken)
		taken[m.Name] = true
	}
	m.head = jsontext.AppendString([]byte(`{"type":`), m.Name)
	m.plain = jsontext.AppendString([]byte(`{"type":`), plainName(m.Name))
}

// typeName is the first that is free of: name, gprof.name for a special type,
// name (2), name (3), …
func typeName(name string, taken map[string]bool) string {
	if name == "" {
		name = "(no name)"
	}
	if IsSpecial(name) {
		name = plainName(name)
	}
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s (%d)", name, n)
	}
	return free
}

// fieldsOf gives each field of an event a key that no other field has. The first
// window has the key that means one. A marker's name is none.
func fieldsOf(e *stream.Event) []field {
	taken := make(map[string]bool)
	for _, key := range specialKeys {
		taken[key] = true
	}
	window := false // there is one, of which the viewer shows the page
	fields := make([]field, 0, len(e.Fields))
	for i := range e.Fields {
		f := &e.Fields[i]
		name := f.Name
		if isName(e, i) {
			continue
		}
		if f.Format == stream.FormatWindow && !window {
			name, window, taken[windowKey] = windowKey, true, false
		}
		for name == "" || taken[name] {
			name += "_"
		}
		taken[name] = true
		fields = append(fields, newField(i, name, f))
	}
	return fields
}

func newField(arg int, name string, f *stream.EventField) field {
	n := field{arg: arg, name: name, key: append(jsontext.AppendString([]byte{','}, name), ':')}
	n.format, n.value = formatOf(f)
	switch {
	case !f.Unlisted:
		n.listed = f
	case n.value.counted():
		n.value = valueText // nobody would know that it is a number of a string
	case f.Format == stream.FormatBool:
		n.value = valueBool // no label can refer to it
	}
	return n
}

// isName reports whether a field is the name of a marker: the first that is
// called as the event says.
func isName(e *stream.Event, i int) bool {
	return e.NameField != "" && i == slices.IndexFunc(e.Fields, func(f stream.EventField) bool { return f.Name == e.NameField })
}

// shareFields puts the fields into the order of the schema, and makes them as it
// says. s may be nil.
func (m *MarkerType) shareFields(s *schema) {
	for i := range m.Event.Fields {
		if isName(m.Event, i) {
			m.name = i
		}
	}
	if s == nil {
		return
	}
	for i := range m.fields {
		f := &m.fields[i]
		if k, ok := s.places[f.name]; ok {
			f.format, f.value, f.listed = s.fields[k].format, s.fields[k].value, s.fields[k].listed
		}
	}
	slices.SortStableFunc(m.fields, func(a, b field) int { return s.place(a.name) - s.place(b.name) })
}

// newField is a field beside those of the event.
func (m *MarkerType) newField(name, format string) *field {
	for slices.ContainsFunc(m.fields, func(f field) bool { return f.name == name }) || m.schema.has(name) {
		name += "_"
	}
	return &field{name: name, key: append(jsontext.AppendString([]byte{','}, name), ':'), format: format}
}
