package gecko

import (
	"cmp"
	"slices"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// how is the way in which values of a field stand in a payload.
type how uint8

const (
	asNumber how = iota
	asMillis     // a duration in ms
	asMicros
	asNanos
	asTime   // ms since the start of the process
	asText   // a string
	asUnique // the number of a string
	asFlow   // the same, of an id in hexadecimal
	asID     // a number, or a string that holds one
	asJSON   // anything, as JSON
	asMajor  // details of collections of garbage
	asSlice
	asMinor
)

// formats are those of the viewer.
var formats = map[string]struct {
	format  stream.Format
	privacy stream.Privacy
	how     how
}{
	"url":                 {stream.FormatURL, stream.PrivacyURL, asText},
	"file-path":           {stream.FormatPath, stream.PrivacyPath, asText},
	"sanitized-string":    {stream.FormatText, stream.PrivacySecret, asText},
	"string":              {stream.FormatText, stream.PrivacyPlain, asText},
	"unique-string":       {stream.FormatString, stream.PrivacyPlain, asUnique},
	"flow-id":             {stream.FormatFlow, stream.PrivacyPlain, asFlow},
	"terminating-flow-id": {stream.FormatFlowEnd, stream.PrivacyPlain, asFlow},
	"duration":            {stream.FormatNanoseconds, stream.PrivacyPlain, asMillis},
	"seconds":             {stream.FormatNanoseconds, stream.PrivacyPlain, asMillis}, // its values are in ms, too
	"milliseconds":        {stream.FormatNanoseconds, stream.PrivacyPlain, asMillis},
	"microseconds":        {stream.FormatNanoseconds, stream.PrivacyPlain, asMicros},
	"nanoseconds":         {stream.FormatNanoseconds, stream.PrivacyPlain, asNanos},
	"time":                {stream.FormatTime, stream.PrivacyPlain, asTime},
	"bytes":               {stream.FormatBytes, stream.PrivacyPlain, asNumber},
	"percentage":          {stream.FormatPercentage, stream.PrivacyPlain, asNumber},
	"integer":             {stream.FormatInteger, stream.PrivacyPlain, asNumber},
	"decimal":             {stream.FormatDecimal, stream.PrivacyPlain, asNumber},
	"hexadecimal":         {stream.FormatHexadecimal, stream.PrivacyPlain, asNumber},
	"pid":                 {stream.FormatProcess, stream.PrivacyPlain, asID},
	"tid":                 {stream.FormatThread, stream.PrivacyPlain, asID},
}

// places are the displays of the viewer, in the order of the bits of a Location.
var places = []string{"marker-chart", "marker-table", "timeline-overview", "timeline-memory", "timeline-ipc", "timeline-fileio", "stack-chart", "timeline-network"}

// windowKey is the key of the page that a marker is of.
const windowKey = "innerWindowID"

// field is a field of an event, and how its values stand in the file.
type field struct {
	stream.EventField
	how how
}

// schema is what a profile says of a type of markers.
type schema struct {
	typ       string
	event     stream.Event // without name and category
	fields    []field
	described bool // by a text that is called a description
}

// readSchemas reads the list of schemas of a profile, or of a process. Of two of one name the first counts.
func (r *reader) readSchemas(meta part) {
	r.note(meta.objects("markerSchema", func(o object) {
		name := o.text("name")
		if r.survey.schemas[name] == nil && !r.full() {
			s := r.schema(o)
			r.survey.schemas[name] = s
			r.hold(typeBytes + fieldBytes*int64(len(s.fields)))
		}
	}))
}

func (r *reader) schema(o object) *schema {
	s := &schema{typ: o.text("name")}
	s.event.Chart, s.event.Tooltip, s.event.Table = o.text("chartLabel"), o.text("tooltipLabel"), o.text("tableLabel")
	for _, place := range o.texts("display") {
		i := slices.Index(places, place)
		if i < 0 {
			r.lose(stream.ReasonUnsupported, "displays of schemas", 1)
			continue
		}
		s.event.Display |= 1 << i
	}
	s.event.Description = o.text("description")
	for _, inner := range o.objects(firstOf(o, "fields", "data")) {
		r.schemaField(s, inner)
	}
	s.event.ColorField, s.event.Nested = o.text("colorField"), o.truth("isStackBased")
	for _, g := range o.objects("graphs") {
		s.event.Graphs = append(s.event.Graphs, stream.Graph{Field: g.text("key"), Shape: g.text("type"), Color: g.text("color")})
	}
	return s
}

// schemaField adds a field to a schema. What is always the same is none: the
// first such text describes the type, but one that is called so goes before it.
func (r *reader) schemaField(s *schema, o object) {
	key := o.text("key")
	if key == "" {
		if !s.described && s.event.Description != "" {
			r.lose(stream.ReasonUnsupported, "texts of schemas", 1)
		}
		switch called := o.text("label") == "Description"; {
		case called && !s.described, s.event.Description == "":
			s.event.Description, s.described = o.text("value"), called
		default:
			r.lose(stream.ReasonUnsupported, "texts of schemas", 1)
		}
		return
	}
	f := field{EventField: stream.EventField{
		Name: key, Label: cmp.Or(o.text("label"), key), Searchable: o.truth("searchable"), Hidden: o.truth("hidden"),
	}}
	f.setFormat(o)
	if o.truth("containsPII") && f.Privacy == stream.PrivacyPlain {
		f.Privacy = stream.PrivacySecret
	}
	if key == windowKey {
		f.Format = stream.FormatWindow
	}
	f.setCollection(s.typ)
	s.fields = append(s.fields, f)
}

// setFormat makes a field one of a format of the viewer: a name, or an object.
func (f *field) setFormat(o object) {
	raw := o.raw("format")
	if !isNull(raw) && raw[0] != '"' && raw[0] != '{' {
		o.note(stream.ReasonMalformed, "format")
		raw = nil
	}
	if isNull(raw) {
		raw = []byte(`"string"`)
	}
	name := string(jsonfile.AppendText(nil, raw))
	known, ok := formats[name]
	if !ok { // a list, a table, or what is new
		known.format, known.how = stream.FormatText, asText
		if name == "list" || raw[0] == '{' {
			known.how = asJSON
		}
	}
	f.Format, f.Privacy, f.how = known.format, known.privacy, known.how
	f.Type = f.how.typ(f.Format)
	if !ok || known.format == stream.FormatNanoseconds && name != "duration" {
		f.Shown = string(compact(nil, raw))
		if raw[0] == '"' {
			f.Shown = name
		}
	}
}

// typ is the type of most values.
func (h how) typ(f stream.Format) stream.Type {
	switch {
	case h == asText, h == asUnique:
		return stream.Text
	case h >= asJSON:
		return stream.JSON
	case h == asFlow:
		return stream.Uint
	case f == stream.FormatDecimal, f == stream.FormatPercentage:
		return stream.Float
	}
	return stream.Int
}
