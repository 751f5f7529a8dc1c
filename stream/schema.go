package stream

import (
	"encoding/binary"
	"slices"
)

// Event is the definition of markers: their name and typed fields.
type Event struct {
	Name     string
	Category CategoryID
	Display  Location
	Chart    string // label templates, "" for the default
	Tooltip  string
	Table    string
	Fields   []EventField

	// Type is the name by which Firefox Profiler knows such markers, some of which it
	// shows in ways of its own; events of one type share a schema. If it is "", the event
	// has a type of its own, which a sink names after it.
	Type string
	// NameField is the field that has the name of a marker, if markers have names of
	// their own; "" if they are called by the event's name.
	NameField string
	// Bare says that there is no schema of the type, so that the viewer falls back to
	// what it knows itself.
	Bare        bool
	Description string  // for people, one or two sentences
	Graphs      []Graph // that give the markers a track of their own in the timeline
	ColorField  string  // name of the field that has the color of a marker
	Nested      bool    // markers of a thread don't overlap in part: they follow or contain each other
}

// Graph is a line in the timeline that shows the values of a field.
type Graph struct {
	Field string // its name
	Shape string // bar, line or line-filled
	Color string // one that Firefox Profiler knows for graphs, "" for any
}

// EventField is one argument of an event.
type EventField struct {
	Name, Label string
	Type        Type
	Format      Format
	Privacy     Privacy
	Searchable  bool
	Hidden      bool
	Unlisted    bool // not in the schema of the event, so that it is not shown
	// Shown is how Firefox Profiler shows the values, if not by their Format: one of its
	// formats, or the JSON of one that is an object.
	Shown string
}

// NameArg is the argument that is the name of a marker, -1 if markers are called by the
// event's name.
func (e *Event) NameArg() int {
	if e.NameField == "" {
		return -1
	}
	return slices.IndexFunc(e.Fields, func(f EventField) bool { return f.Name == e.NameField })
}

// AddEvent interns e by content.
func (t *Tables) AddEvent(e Event) EventID {
	key := e.key()
	if id, ok := t.eventIDs[key]; ok {
		return id
	}
	if t.eventIDs == nil {
		t.eventIDs = make(map[string]EventID)
	}
	t.Events = append(t.Events, e)
	id := EventID(len(t.Events))
	t.eventIDs[key] = id
	return id
}

// Format is the unit and meaning of a field or a counter.
type Format uint8

const (
	FormatInteger Format = iota
	FormatDecimal
	FormatText
	FormatBytes
	FormatNanoseconds // a duration
	FormatTime        // a Time
	FormatPercentage  // 1.0 is 100 %
	FormatHexadecimal
	FormatBool
	FormatPath
	FormatURL
	FormatString // a text that repeats often
	FormatFlow
	FormatFlowEnd
	FormatThread
	FormatProcess
	FormatWindow // the window of a page
	FormatPicowatt
	FormatTraceID // of a distributed trace: 32 hexadecimal digits
	FormatSpanID  // of a span in one: 16 hexadecimal digits
	NumFormats
)

// Unit names the unit of a counter: "bytes", "ns", or "" of a number.
func (f Format) Unit() string {
	switch f {
	case FormatBytes:
		return "bytes"
	case FormatNanoseconds:
		return "ns"
	}
	return ""
}

// Privacy is the kind of secret that a value may reveal.
type Privacy uint8

const (
	PrivacyPlain Privacy = iota
	PrivacyPath
	PrivacyURL
	PrivacyUser
	PrivacySecret
)

// Location is a set of places where markers are shown.
type Location uint16

const (
	ShowChart Location = 1 << iota
	ShowTable
	ShowTimeline
	ShowMemory
	ShowIPC
	ShowFileIO
	ShowStack
	ShowNetwork
)

// key is the content of e as a string, for interning: only equal events have the same
// key.
func (e *Event) key() string {
	k := make([]byte, 0, 128)
	k = appendTexts(k, e.Name, e.Chart, e.Tooltip, e.Table)
	k = appendNumbers(k, uint64(uint32(e.Category)), uint64(e.Display), uint64(len(e.Fields)))
	for i := range e.Fields {
		k = e.Fields[i].appendKey(k)
	}
	k = appendTexts(k, e.Type, e.Description, e.ColorField, e.NameField)
	k = append(k, bit(e.Bare)|bit(e.Nested)<<1)
	for _, g := range e.Graphs {
		k = appendTexts(k, g.Field, g.Shape, g.Color)
	}
	return string(k)
}

func (f *EventField) appendKey(k []byte) []byte {
	k = appendTexts(k, f.Name, f.Label, f.Shown)
	return append(k, byte(f.Type), byte(f.Format), byte(f.Privacy), bit(f.Searchable)|bit(f.Hidden)<<1|bit(f.Unlisted)<<2)
}

// appendTexts adds texts, each after its length, so that different texts never look the
// same.
func appendTexts(k []byte, texts ...string) []byte {
	for _, s := range texts {
		k = binary.AppendUvarint(k, uint64(len(s)))
		k = append(k, s...)
	}
	return k
}

func appendNumbers(k []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		k = binary.AppendUvarint(k, n)
	}
	return k
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
