package gecko

import (
	"bytes"
	"cmp"
	"slices"
	"unsafe"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// maxNames bounds the marker names that become events. Programs have some hundred; names made up at
// run time are values.
const maxNames = 2000

// maxFields bounds the fields of an event. Each row has a place for each, so rows of a program that
// makes up field names would be as large as all its markers. The remaining members go to one field,
// as JSON.
const maxFields = 128

// survey is the events of a profile.
type survey struct {
	schemas map[string]*schema // by type
	events  map[eventKey]*event
	names   map[string]bool
	types   map[string]int32 // numbers of types, from 1; 0 is none
}

// eventKey is the identity of an event.
type eventKey struct {
	name, typ string
	category  int
	named     bool // the name is the type's; the marker's name is a field
}

// event is a definition, and where its fields are.
type event struct {
	id      stream.EventID
	fields  []field
	columns map[string]int  // by key
	others  map[string]seen // keys that no schema lists
	named   bool            // a field holds the marker's name
	crowded bool            // there are more keys than fields
	rest    int             // 1 + the field that holds the remaining members; 0 none
}

// seen is the set of value kinds of a key.
type seen uint8

const (
	seenInteger seen = 1 << iota
	seenDecimal
	seenBool
	seenText
	seenNested
)

// nameKey is the field for a marker's name that is not the event's.
const nameKey = "name of the marker"

// restKey is the field for the members that have no field of their own.
const restKey = "further members"

// look finds the events of all wanted markers.
func (r *reader) look() {
	r.survey = survey{schemas: map[string]*schema{}, events: map[eventKey]*event{}, names: map[string]bool{}, types: map[string]int32{"": 0}}
	r.enter(r.processes[0])
	if meta := r.root.object("meta"); meta.at("markerSchema").v != nil {
		r.readSchemas(meta)
	} else {
		r.readOldSchemas()
	}
	for i, x := range r.processes {
		if r.enter(x); i == 0 || x.v != r.root.v {
			r.numberPages(x.part)
		}
		if r.ids[i] == 0 {
			continue
		}
		if i > 0 && x.v != r.root.v {
			r.readSchemas(x.object("meta"))
		}
		for _, t := range x.threads {
			if r.goesOn() {
				r.lookAt(t)
			}
		}
	}
	if r.goesOn() {
		r.define()
	}
}

// lookAt finds the events of a thread. Malformed markers are noted when they are read.
func (r *reader) lookAt(t *thread) {
	m := r.markerTable(t, r.textsOf(t))
	for m.next() && !r.full() {
		if e := m.event(); e != nil {
			for _, of := range m.members() {
				if key, ok := m.field(of.Key, of.Value); ok && !e.has(key) {
					r.other(e, key, of.Value)
				}
			}
		}
	}
	r.lookAtAllocations(t)
	r.done = max(r.done, min(t.at("markers").v.Offset()/2, r.file.size))
}

// Approximate memory of an event, of an unlisted field and of a type; most of it is maps.
const (
	eventBytes = 768
	otherBytes = 400 // before and after it becomes one
	typeBytes  = int64(unsafe.Sizeof(schema{})) + mapBytes
	fieldBytes = int64(unsafe.Sizeof(field{})) + mapBytes
)

// other notes a field that no schema lists.
func (r *reader) other(e *event, key, value []byte) {
	before, known := e.others[string(key)]
	if r.full() {
		return
	}
	if !known && len(e.fields)+len(e.others) >= maxFields {
		e.crowded = true
		return
	}
	if !known {
		r.claim.Add(r.t, otherBytes+int64(len(key)))
	}
	if seen := before | seenOf(value); !known || seen != before {
		e.others[string(key)] = seen
	}
}

// has reports whether the event has a field.
func (e *event) has(key []byte) bool {
	_, ok := e.columns[string(key)]
	return ok
}

// seenOf is the kind of a value.
func seenOf(raw []byte) seen {
	switch {
	case isNull(raw):
		return 0
	case raw[0] == 't', raw[0] == 'f':
		return seenBool
	case raw[0] == '"':
		return seenText
	case raw[0] == '{', raw[0] == '[':
		return seenNested
	}
	if _, ok := jsonfile.Int(raw); ok {
		return seenInteger
	}
	return seenDecimal
}

// event is the event of a name, type and category, a new one if need be.
func (r *reader) event(name, typ string, category int) *event {
	key := eventKey{name: name, typ: typ, category: category}
	if bytes.Contains([]byte(name), []byte("://")) || len(r.survey.names) >= maxNames && !r.survey.names[name] {
		key.name, key.named = cmp.Or(typ, "marker"), true
	} else {
		r.survey.names[name] = true
	}
	e := r.survey.events[key]
	if e == nil {
		e = &event{columns: map[string]int{}, others: map[string]seen{}, named: key.named}
		if s := r.survey.schemas[typ]; s != nil {
			e.fields = slices.Clone(s.fields[:min(len(s.fields), maxFields)])
		}
		for i := range e.fields {
			e.columns[e.fields[i].Name] = i
		}
		if key.named && !e.has([]byte(nameKey)) {
			e.add(field{stream.EventField{Name: nameKey, Label: nameKey, Type: stream.Text, Format: stream.FormatText, Privacy: stream.PrivacySecret, Unlisted: true}, asText})
		}
		r.survey.events[key] = e
		r.claim.Add(r.t, eventBytes+int64(len(name)+len(typ))+fieldBytes*int64(len(e.fields)))
	}
	return e
}

func (e *event) add(f field) {
	e.columns[f.Name] = len(e.fields)
	e.fields = append(e.fields, f)
}

// define adds the events to the tables, in an order independent of the rows'.
func (r *reader) define() {
	keys := make([]eventKey, 0, len(r.survey.events))
	for key := range r.survey.events {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b eventKey) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.typ, b.typ), cmp.Compare(a.category, b.category), -cmp.Compare(len(r.survey.events[b].fields), len(r.survey.events[a].fields)))
	})
	for _, key := range keys {
		e := r.survey.events[key]
		e.addOthers(key.typ)
		def := stream.Event{Display: stream.ShowChart | stream.ShowTable, Bare: true}
		if s := r.survey.schemas[key.typ]; s != nil {
			def = s.event
		}
		def.Name, def.Type = key.name, key.typ
		if key.named {
			def.NameField = nameKey
		}
		if key.category < len(r.categories) && key.category >= 0 {
			def.Category = r.categories[key.category][0]
		}
		for _, f := range e.fields {
			def.Fields = append(def.Fields, f.EventField)
		}
		e.id = r.t.AddEvent(def)
	}
}

// addOthers adds the fields that no schema lists. Their strings are secret, since nothing says what
// they reveal.
func (e *event) addOthers(typ string) {
	keys := make([]string, 0, len(e.others))
	for key := range e.others {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		f := field{EventField: stream.EventField{Name: key, Label: key, Unlisted: true}}
		if !f.setKnown(typ, e.others[key]) {
			f.setSeen(e.others[key])
		}
		e.add(f)
	}
	e.others = nil
	if e.crowded {
		e.addRest()
	}
}

// addRest adds the field for the remaining members.
func (e *event) addRest() {
	name := restKey
	for e.has([]byte(name)) {
		name += "+"
	}
	f := field{EventField: stream.EventField{Name: name, Label: name, Unlisted: true}}
	f.setSeen(seenNested)
	e.add(f)
	e.rest = len(e.fields)
}

// setSeen sets the type by the values seen.
func (f *field) setSeen(seen seen) {
	switch seen {
	case seenInteger:
		f.Type, f.Format, f.how = stream.Int, stream.FormatInteger, asNumber
	case seenDecimal, seenDecimal | seenInteger:
		f.Type, f.Format, f.how = stream.Float, stream.FormatDecimal, asNumber
	case seenBool:
		f.Type, f.Format, f.how = stream.Int, stream.FormatBool, asNumber
	case seenText, 0:
		f.Type, f.Format, f.Privacy, f.how = stream.Text, stream.FormatText, stream.PrivacySecret, asText
	default:
		f.Type, f.Format, f.Privacy, f.how = stream.JSON, stream.FormatText, stream.PrivacySecret, asJSON
	}
}
