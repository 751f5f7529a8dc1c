package viewer

import (
	"fmt"
	"slices"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// Dialect is one of the viewer's two formats; some payloads differ.
type Dialect bool

const (
	Processed Dialect = false
	Gecko     Dialect = true
)

// MarkerType is how the markers of one event are written.
type MarkerType struct {
	Event    *stream.Event
	Name     string // of the type
	Category int    // index in the list

	head   []byte // the payload before its first field
	plain  []byte // the same for a marker that the viewer could not take as one of the type
	needs  needs  // what it takes for granted
	name   int    // argument that is the marker's name; -1 none
	fields []field
	// goroutine is the field after the others; nil if unknown.
	goroutine *field

	schema *schema // of the type; nil for none
}

// field is a field of a payload.
type field struct {
	arg    int // index of the argument
	name   string
	key    []byte // a comma, the key, a colon
	format string
	value  valueKind
	listed *stream.EventField // in the schema; nil: unlisted
}

// specialKeys are the payload keys with a meaning in every type.
var specialKeys = []string{"type", "stack", "cause", windowKey}

// windowKey is the key of a marker's page.
const windowKey = "innerWindowID"

// IsSpecialKey reports whether a key has a meaning in every type.
func IsSpecialKey(key string) bool { return slices.Contains(specialKeys, key) }

// MarkerTypes gives each event a type: the one that it names, else one of its own. Different events
// of one name get different types, in the order of ids. Events of one type share a schema: that of
// the first one that is not bare, with the fields of all, each as in the first event that has it.
func MarkerTypes(t *stream.Tables, categories Categories, dialect Dialect) []MarkerType {
	taken := takenNames(t.Events)
	schemas := map[string]*schema{}
	types := make([]MarkerType, len(t.Events))
	for i := range t.Events {
		m := &types[i]
		*m = MarkerType{Event: &t.Events[i], Category: categories.Place(t.Events[i].Category).Category, name: t.Events[i].NameArg()}
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

// takenNames are the names unavailable to events without a type: the viewer's own, and those that
// other events name.
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

// setName sets the type's name, and the beginning of payloads.
func (m *MarkerType) setName(taken map[string]bool) {
	if m.Name = m.Event.Type; m.Name == "" || isOtherKind(m.Name) {
		m.Name = typeName(m.Event.Name, taken)
		taken[m.Name] = true
	}
	m.head = jsontext.AppendString([]byte(`{"type":`), m.Name)
	m.plain = jsontext.AppendString([]byte(`{"type":`), plainName(m.Name))
}

// typeName is the first free one of: name, gprof.name for a special type, name (2), name (3), …
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

// fieldsOf gives each field of an event a unique key. The first window has windowKey. A marker's
// name is no field.
func fieldsOf(e *stream.Event) []field {
	taken := make(map[string]bool)
	for _, key := range specialKeys {
		taken[key] = true
	}
	window := false // there is one, of which the viewer shows the page
	fields, own := make([]field, 0, len(e.Fields)), e.NameArg()
	for i := range e.Fields {
		f := &e.Fields[i]
		name := f.Name
		if i == own {
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

// shareFields reorders and encodes the fields by the schema, which may be nil.
func (m *MarkerType) shareFields(s *schema) {
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

// newField is a field that is no argument of the event.
func (m *MarkerType) newField(name, format string) *field {
	for slices.ContainsFunc(m.fields, func(f field) bool { return f.name == name }) || m.schema.has(name) {
		name += "_"
	}
	return &field{name: name, key: append(jsontext.AppendString([]byte{','}, name), ':'), format: format}
}
