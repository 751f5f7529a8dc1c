package recorder

import (
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/shard"
)

// Events for names that find no room, because a program makes up names as it runs.
var (
	otherMark = NewEvent1("other", String("name").Searchable())
	otherText = NewEvent2("other", String("name").Searchable(), String("text").Searchable(), ChartLabel(registry.TextLabel), TableLabel("{marker.data.name} — "+registry.TextLabel))
)

// Mark records an instant by name. The first use of a name defines an event, which writes
// to the dictionary. There is room for 1,024 names; markers of further names are recorded
// as the event "other", with the name in a field. Events made by [NewEvent] have no such
// limit.
func Mark(name string) { (*Track)(nil).Mark(name) }

// Text records an instant with a text, by name; see [Mark]. The text is cut at 1 KiB. It
// might reveal anything, so gprof-convert --redact treats it as a secret.
func Text(name, text string) { (*Track)(nil).Text(name, text) }

// Mark records an instant on the track; see [Mark].
func (t *Track) Mark(name string) {
	if shard.Current.Load() == nil {
		return
	}
	if h := t.dynamic(name, false); h.Event != nil {
		shard.Emit(h, rawformat.KindInstant, nil, nil, 0)
	} else {
		otherMark.On(t).Mark(name)
	}
}

// Text records an instant with a text on the track; see [Text].
func (t *Track) Text(name, text string) {
	if shard.Current.Load() == nil {
		return
	}
	if h := t.dynamic(name, true); h.Event != nil {
		h.Record(rawformat.KindInstant, shard.Pack(text), shard.Arg{}, nil)
	} else {
		otherText.On(t).Mark(name, text)
	}
}

func (t *Track) dynamic(name string, text bool) shard.Handle {
	return shard.Handle{Event: registry.Untyped(name, text), Track: t.def()}
}
