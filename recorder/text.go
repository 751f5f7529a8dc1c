package recorder

import (
	"maps"
	"sync/atomic"
)

// maxNames bounds the names of untyped markers: each is a definition that is
// never given up.
const maxNames = 1024

// names finds the events of untyped markers without a lock. Adding one copies
// the map.
var names atomic.Pointer[map[dynamicName]*definition]

type dynamicName struct {
	name string
	text bool
}

// Markers whose names found no room: those of names that are made up as a program
// runs, and may be millions.
var (
	otherMark = NewEvent1("other", String("name").Searchable())
	otherText = NewEvent2("other", String("name").Searchable(), String("text").Searchable(), ChartLabel(textLabel), TableLabel("{marker.data.name} — "+textLabel))
)

// textLabel shows the text of a marker without having to point at it.
const textLabel = "{marker.data.text}"

// Mark records an instant by name. The first use of a name defines an event,
// which writes to the dictionary; there is room for 1,024 names. Markers of further
// ones are recorded as the event "other", with the name in a field. Events made by
// [NewEvent] have no such limits.
func Mark(name string) { (*Track)(nil).Mark(name) }

// Text records an instant with a text by name; see [Mark]. The text is cut at
// 1 KiB. What it reveals nobody knows: gprof-convert --redact takes it for a
// secret.
func Text(name, text string) { (*Track)(nil).Text(name, text) }

// Mark records an instant on the track; see [Mark].
func (t *Track) Mark(name string) {
	if recording.Load() == nil {
		return
	}
	if h := t.dynamic(dynamicName{name, false}); h.d != nil {
		emit(h, markInstant, nil, nil, 0)
	} else {
		otherMark.On(t).Mark(name)
	}
}

// Text records an instant with a text on the track; see [Text].
func (t *Track) Text(name, text string) {
	if recording.Load() == nil {
		return
	}
	if h := t.dynamic(dynamicName{name, true}); h.d != nil {
		h.record(markInstant, pack(text), arg{}, nil)
	} else {
		otherText.On(t).Mark(name, text)
	}
}

func (t *Track) dynamic(n dynamicName) handle {
	known := names.Load()
	if known != nil {
		if d := (*known)[n]; d != nil {
			return handle{d, t}
		}
	}
	return handle{defined.dynamicEvent(n), t}
}

// dynamicEvent returns the event of an untyped marker; nil if there are too
// many names.
func (g *registry) dynamicEvent(n dynamicName) *definition {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := map[dynamicName]*definition{}
	if p := names.Load(); p != nil {
		known = *p
	}
	if d := known[n]; d != nil {
		return d
	}
	if len(known) >= maxNames {
		return nil
	}
	e := eventSpec{name: n.name, display: InChart | InTable}
	if n.text {
		e.fields = []fieldSpec{String("text").Searchable().spec}
		e.chart, e.table = textLabel, textLabel
	}
	known = maps.Clone(known)
	// The key outlives the caller's string, which may lie in a large buffer.
	n.name = string([]byte(n.name))
	known[n] = g.event(&e)
	names.Store(&known)
	return known[n]
}
