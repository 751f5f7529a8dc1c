package chrometrace

import (
	"encoding/json"
	"hash/fnv"
	"strings"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// A shape is events of one category, name and kind that have the same members.

// shapes are the events of a file.
type shapes struct {
	known map[string]*shape
	named map[string]int // how many shapes events of one category and name have
	key   []byte         // scratch
	bytes int64          // that they take
	texts map[string]stream.CategoryID
}

type shape struct {
	event  stream.EventID
	fields []stream.EventField
}

// kind is what fields an event has besides its args.
type kind uint8

const (
	hasBusy kind = 1 << iota // CPU time
	hasID
	hasFlow
	hasFlowEnd
	hasWhere
)

const (
	maxShapes = 1 << 15
	maxAlike  = 16  // of one category and name; others have their args as one field
	maxFields = 100 // of an event
	shapeCost = 512 // bytes, about
)

// argument is a field of an event being read.
type argument struct {
	name  string
	value []byte
}

func (x *shapes) begin(*source) {
	x.known, x.named, x.texts = map[string]*shape{}, map[string]int{}, map[string]stream.CategoryID{}
}

// shape is that of an event with these args, which may be replaced.
func (s *source) shape(e *event, has kind, args []argument) (*shape, []argument) {
	x := &s.shapes
	x.key = append(append(append(append(x.key[:0], byte(has)), e.cat...), ' '), e.name...)
	base := len(x.key)
	for _, a := range args {
		x.key = append(append(x.key, 0), a.name...)
	}
	if sh, ok := x.known[string(x.key)]; ok {
		return sh, args
	}
	whole := len(args) > maxFields || x.named[string(x.key[:base])] >= maxAlike || len(x.known) >= maxShapes
	if whole {
		args = []argument{{"args", joined(args)}}
		x.key = append(x.key[:base], 1)
		if sh, ok := x.known[string(x.key)]; ok {
			return sh, args
		}
	}
	if len(x.known) >= maxShapes {
		x.key = append(x.key[:0], byte(has), 2)
		e.cat, e.name = nil, []byte(`"events of more than are told apart by name"`)
		if sh, ok := x.known[string(x.key)]; ok {
			return sh, args
		}
	}
	sh := s.newShape(e, has, args)
	x.named[string(x.key[:min(base, len(x.key))])]++
	x.known[string(x.key)] = sh
	x.bytes += shapeCost + int64(len(x.key))
	return sh, args
}

// joined is args as one object.
func joined(args []argument) []byte {
	text := []byte("{")
	for i, a := range args {
		if i > 0 {
			text = append(text, ',')
		}
		key, _ := json.Marshal(a.name) // no text fails
		text = append(append(append(text, key...), ':'), a.value...)
	}
	return append(text, '}')
}

// newShape makes the event of a shape.
func (s *source) newShape(e *event, has kind, args []argument) *shape {
	row := stream.Event{Name: string(jsonfile.AppendText(nil, e.name)), Display: stream.ShowChart | stream.ShowTable, Nested: e.phase == 'X' || e.phase == 'B'}
	if row.Name == "" {
		row.Name = "(no name)"
	}
	row.Category = s.category(e.cat)
	for _, f := range []struct {
		kind
		stream.EventField
	}{
		{hasBusy, stream.EventField{Name: "tdur", Label: "CPU time", Type: stream.Int, Format: stream.FormatNanoseconds}},
		{hasID, stream.EventField{Name: "id", Label: "id", Type: stream.Text, Format: stream.FormatString, Privacy: stream.PrivacyUser}},
		{hasFlow, stream.EventField{Name: "flow", Label: "Flow", Type: stream.Uint, Format: stream.FormatFlow}},
		{hasFlowEnd, stream.EventField{Name: "flow", Label: "Flow", Type: stream.Uint, Format: stream.FormatFlowEnd}},
		{hasWhere, stream.EventField{Name: "scope", Label: "scope", Type: stream.Text, Format: stream.FormatString}},
	} {
		if has&f.kind != 0 {
			row.Fields = append(row.Fields, f.EventField)
		}
	}
	taken := map[string]bool{}
	for _, f := range row.Fields {
		taken[f.Name] = true
	}
	for _, a := range args {
		f := fieldOf(a)
		for taken[f.Name] {
			f.Name = "args." + f.Name
		}
		taken[f.Name] = true
		row.Fields = append(row.Fields, f)
	}
	return &shape{event: s.tables.AddEvent(row), fields: row.Fields}
}

// fieldOf is the field of an argument, by its first value. Texts may reveal anything.
func fieldOf(a argument) stream.EventField {
	f := stream.EventField{Name: a.name, Label: a.name, Searchable: true, Type: stream.Text, Format: stream.FormatText, Privacy: stream.PrivacySecret}
	if f.Name == "" {
		f.Name = "(no name)"
	}
	switch a.value[0] {
	case '{', '[':
		f.Type = stream.JSON
	case '"', 'n':
		if name := strings.ToLower(a.name); strings.HasSuffix(name, "url") {
			f.Format, f.Privacy = stream.FormatURL, stream.PrivacyURL
		}
	case 't', 'f':
		f.Type, f.Format, f.Privacy = stream.Int, stream.FormatBool, stream.PrivacyPlain
	default:
		f.Type, f.Format, f.Privacy = stream.Int, stream.FormatInteger, stream.PrivacyPlain
		if _, whole := jsonfile.Int(a.value); !whole {
			f.Type, f.Format = stream.Float, stream.FormatDecimal
		}
	}
	return f
}

// palette is the colors of categories that Firefox Profiler knows.
var palette = []string{"blue", "green", "orange", "yellow", "purple", "lightblue", "brown", "magenta", "red", "lightred"}

// category is that of an event. Its color is any, but always the same.
func (s *source) category(cat []byte) stream.CategoryID {
	if id, ok := s.shapes.texts[string(cat)]; ok {
		return id
	}
	row := stream.Other
	if name := string(jsonfile.AppendText(nil, cat)); name != "" {
		h := fnv.New32a()
		h.Write([]byte(name))
		row = stream.Category{Name: name, Color: palette[h.Sum32()%uint32(len(palette))]}
	}
	id := s.tables.Categories.Intern(row)
	s.shapes.texts[string(cat)] = id
	return id
}
