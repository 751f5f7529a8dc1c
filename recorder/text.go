package recorder

import "gprof/recorder/internal/registry"

// Markers whose names found no room: those of names that are made up as a program
// runs, and may be millions.
var (
	otherMark = NewEvent1("other", String("name").Searchable())
	otherText = NewEvent2("other", String("name").Searchable(), String("text").Searchable(), ChartLabel(registry.TextLabel), TableLabel("{marker.data.name} — "+registry.TextLabel))
)

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
	if current.Load() == nil {
		return
	}
	if h := t.dynamic(name, false); h.d != nil {
		emit(h, markInstant, nil, nil, 0)
	} else {
		otherMark.On(t).Mark(name)
	}
}

// Text records an instant with a text on the track; see [Text].
func (t *Track) Text(name, text string) {
	if current.Load() == nil {
		return
	}
	if h := t.dynamic(name, true); h.d != nil {
		h.record(markInstant, pack(text), arg{}, nil)
	} else {
		otherText.On(t).Mark(name, text)
	}
}

func (t *Track) dynamic(name string, text bool) handle {
	return handle{registry.Untyped(name, text), t.def()}
}
