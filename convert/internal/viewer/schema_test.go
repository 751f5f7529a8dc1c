package viewer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
)

// Types and keys are unique and none of the viewer's own.
func TestNames(t *testing.T) {
	field := func(names ...string) (out []stream.EventField) {
		for _, name := range names {
			out = append(out, stream.EventField{Name: name})
		}
		return out
	}
	tables := &stream.Tables{Events: []stream.Event{
		{Name: "flush"}, {Name: "flush", Chart: "x"}, {Name: "flush (2)"}, {Name: "flush", Chart: "y"},
		{Name: "Text"}, {Name: "Jank"}, {Name: "gprof.Text"}, {Name: ""},
		{Name: "e", Fields: field("type", "type_", "", "a", "a"), Chart: "{marker.data.type} {marker.data.type ? 'y' : 'n'} {marker.data.typed} {marker.data.a}"},
	}}
	types := MarkerTypes(tables, CategoriesOf(tables), Processed)
	var names []string
	for _, m := range types {
		names = append(names, m.Name)
	}
	want := []string{"flush", "flush (2)", "flush (2) (2)", "flush (3)", "gprof.Text", "gprof.Jank", "gprof.Text (2)", "(no name)", "e"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	window := stream.Event{Fields: []stream.EventField{{Name: "page", Format: stream.FormatWindow}, {Name: "innerWindowID"}, {Name: "opener", Format: stream.FormatWindow}}}
	var windows []string
	for _, f := range fieldsOf(&window) {
		windows = append(windows, f.name)
	}
	if diff := cmp.Diff([]string{"innerWindowID", "innerWindowID_", "opener"}, windows); diff != "" {
		t.Error(diff)
	}
	e := types[len(types)-1]
	var keys []string
	for _, f := range e.fields {
		keys = append(keys, f.name)
	}
	if diff := cmp.Diff([]string{"type_", "type__", "_", "a", "a_"}, keys); diff != "" {
		t.Error(diff)
	}
	if got, want := e.schema.template(e.Event.Chart), "{marker.data.type_} {marker.data.type_ ? 'y' : 'n'} {marker.data.typed} {marker.data.a}"; got != want {
		t.Errorf("label %s, want %s", got, want)
	}
}
