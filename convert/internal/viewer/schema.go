package viewer

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// schema describes a type of markers.
type schema struct {
	of     *MarkerType // the event that describes it
	fields []field     // of all events of the type
	places map[string]int
}

// schemaOf is the schema of an event's type, with the event's fields.
func schemaOf(known map[string]*schema, m *MarkerType) *schema {
	s := known[m.Name]
	if s == nil {
		s = &schema{of: m, places: map[string]int{}}
		known[m.Name] = s
	}
	for _, f := range m.fields {
		if f.listed != nil && !s.has(f.name) {
			s.places[f.name] = len(s.fields)
			s.fields = append(s.fields, f)
		}
	}
	return s
}

func (s *schema) has(key string) bool {
	if s == nil {
		return false
	}
	_, ok := s.places[key]
	return ok
}

// place is the index of a listed key, the end for others.
func (s *schema) place(key string) int {
	if k, ok := s.places[key]; ok {
		return k
	}
	return math.MaxInt32
}

// WriteSchemas writes the list of schemas of all types.
func WriteSchemas(out *jsontext.Writer, types []MarkerType, dialect Dialect) {
	out.BeginArray()
	for i := range types {
		if s := types[i].schema; s != nil && s.of == &types[i] {
			s.write(out, dialect)
		}
	}
	out.EndArray()
}

func (s *schema) write(out *jsontext.Writer, dialect Dialect) {
	e := s.of.Event
	out.BeginObject()
	out.Member("name", s.of.Name)
	for _, label := range []struct{ key, text string }{{"chartLabel", e.Chart}, {"tooltipLabel", e.Tooltip}, {"tableLabel", e.Table}} {
		if label.text != "" {
			out.Member(label.key, s.template(label.text))
		}
	}
	writeDisplay(out, e.Display)
	if dialect == Gecko {
		out.Key("data")
	} else {
		writeKnown(out, "description", e.Description)
		out.Key("fields")
	}
	s.writeFields(out, dialect)
	s.writeGraphs(out)
	if e.ColorField != "" {
		out.Member("colorField", s.key(e.ColorField))
	}
	if e.Nested {
		out.Flag("isStackBased", true)
	}
	out.EndObject()
}

// writeFields writes the list of fields. In Gecko's format a constant field stands for a
// description.
func (s *schema) writeFields(out *jsontext.Writer, dialect Dialect) {
	out.BeginArray()
	for i := range s.fields {
		writeField(out, &s.fields[i])
	}
	if g := s.of.goroutine; g != nil {
		writeField(out, g)
	}
	if text := s.of.Event.Description; dialect == Gecko && text != "" {
		out.BeginObject()
		out.Member("label", "Description")
		out.Member("value", text)
		out.EndObject()
	}
	out.EndArray()
}

// Shapes and colors of graphs; the viewer draws none with others.
var (
	graphShapes = []string{"bar", "line", "line-filled"}
	graphColors = []string{"blue", "green", "grey", "ink", "magenta", "orange", "purple", "red", "teal", "yellow"}
)

func (s *schema) writeGraphs(out *jsontext.Writer) {
	var graphs []stream.Graph
	for _, g := range s.of.Event.Graphs {
		if slices.Contains(graphShapes, g.Shape) {
			graphs = append(graphs, g)
		}
	}
	if len(graphs) == 0 {
		return
	}
	out.Array("graphs")
	for _, g := range graphs {
		out.BeginObject()
		out.Member("key", s.key(g.Field))
		out.Member("type", g.Shape)
		if slices.Contains(graphColors, g.Color) {
			out.Member("color", g.Color)
		}
		out.EndObject()
	}
	out.EndArray()
}

// reference matches a field in a label.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`marker\.data\.[^}\s?]+`) })

// template replaces the fields in a label by their keys.
func (s *schema) template(label string) string {
	const data = "marker.data."
	return reference().ReplaceAllStringFunc(label, func(ref string) string { return data + s.key(strings.TrimPrefix(ref, data)) })
}

// key is the key of the first field of that name, else the name.
func (s *schema) key(name string) string {
	for _, f := range s.of.fields {
		if s.of.Event.Fields[f.arg].Name == name {
			return f.name
		}
	}
	return name
}

// places are the names of the bits of a Location.
var places = []string{"marker-chart", "marker-table", "timeline-overview", "timeline-memory", "timeline-ipc", "timeline-fileio", "stack-chart", "timeline-network"}

func writeDisplay(out *jsontext.Writer, display stream.Location) {
	out.Array("display")
	for bit, name := range places {
		if display&(1<<bit) != 0 {
			out.String(name)
		}
	}
	out.EndArray()
}

func writeField(out *jsontext.Writer, f *field) {
	e := cmp.Or(f.listed, &stream.EventField{Name: f.name})
	out.BeginObject()
	out.Member("key", f.name)
	if label := cmp.Or(e.Label, e.Name); label != f.name { // the default is the key
		out.Member("label", label)
	}
	out.Key("format")
	if strings.HasPrefix(f.format, "{") {
		out.Raw(f.format)
	} else {
		out.String(f.format)
	}
	if e.Searchable {
		out.Flag("searchable", true)
	}
	if e.Hidden {
		out.Flag("hidden", true)
	}
	out.EndObject()
}

// writeKnown writes a string member unless it is empty.
func writeKnown(out *jsontext.Writer, key, text string) {
	if text != "" {
		out.Member(key, text)
	}
}
