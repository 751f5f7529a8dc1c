package gecko

import (
	"cmp"
	"slices"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// how is the encoding of a field's values in payloads.
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

// formats are the viewer's field formats.
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

// places are the viewer's displays, in bit order of Location.
var places = []string{"marker-chart", "marker-table", "timeline-overview", "timeline-memory", "timeline-ipc", "timeline-fileio", "stack-chart", "timeline-network"}

// windowKey is the key of a marker's page.
const windowKey = "innerWindowID"

// field is a field of an event, and how its values are encoded.
type field struct {
	stream.EventField
	how how
}

// schema is what a profile says of a type of markers.
type schema struct {
	typ       string
	event     stream.Event // without name and category
	fields    []field
	described bool // by a static text labelled Description
}

// readSchemas reads the schemas of a profile or process. The first of a name counts.
func (r *reader) readSchemas(meta part) {
	r.note(meta.objects("markerSchema", func(o object) {
		name := o.text("name")
		if r.survey.schemas[name] == nil && !r.full() {
			s := r.schema(o)
			r.survey.schemas[name] = s
			r.claim.Add(r.t, typeBytes+fieldBytes*int64(len(s.fields)))
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

// schemaField adds a field to a schema. Static texts are no fields: the first one describes the
// type, unless one is labelled Description.
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

// setFormat sets a viewer's format, which is a name or an object.
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

// momentKeys are the members of a payload that are times, though no schema says
// so: the viewer moves them along with the marker.
var (
	// momentKeys and networkKeys are payload members that are times though no schema says so: the
	// viewer moves them along with the marker.
	momentKeys  = []string{"startTime", "endTime"}
	networkKeys = []string{
		"domainLookupStart", "domainLookupEnd", "connectStart", "tcpConnectEnd", "secureConnectionStart", "connectEnd",
		"requestStart", "responseStart", "responseEnd",
	}
)

// setKnown makes a field what the viewer's code takes it for without a schema.
func (f *field) setKnown(typ string, seen seen) bool {
	number := seen != 0 && seen&^(seenInteger|seenDecimal) == 0
	switch {
	case f.Name == windowKey && seen == seenInteger:
		f.Type, f.Format, f.how = stream.Int, stream.FormatWindow, asNumber
	case number && (slices.Contains(momentKeys, f.Name) || typ == "Network" && slices.Contains(networkKeys, f.Name)):
		f.Type, f.Format, f.how = stream.Int, stream.FormatTime, asTime
	case typ == "CompositorScreenshot" && f.Name == "url":
		f.Type, f.Format, f.Privacy, f.how = stream.Text, stream.FormatString, stream.PrivacySecret, asUnique
	case typ == "IPC" && f.Name == "otherPid":
		f.Type, f.Format, f.how = stream.Int, stream.FormatProcess, asID
	default:
		return f.setCollection(typ)
	}
	return true
}

// setCollection makes a field the details of a garbage collection, if it is one. Newer schemas call
// these strings, which they are not.
func (f *field) setCollection(typ string) bool {
	switch typ + "." + f.Name {
	case "GCMajor.timings":
		f.how = asMajor
	case "GCSlice.timings":
		f.how = asSlice
	case "GCMinor.nursery":
		f.how = asMinor
	default:
		return false
	}
	f.Type, f.Format = stream.JSON, stream.FormatText
	return true
}
