package firefox

import (
	"slices"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// Functions of scripts lie in their site, those of other places in that one place:
// the viewer shows it behind the name, and puts together what is of one.
func TestOrigins(t *testing.T) {
	top := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		file := b.Tables.Strings.Intern
		lib := b.Tables.Modules.Intern(stream.Module{Name: "lib.so"})
		for i, f := range []stream.Frame{
			{Function: file("a"), Script: true, File: file("https://a.example/x.js")},
			{Function: file("b"), Script: true, File: file("https://a.example/y.js")},
			{Function: file("c"), Script: true, File: file("https://b.example:8080/x.js")},
			{Function: file("d"), Script: true, File: file("resource://gre/x.mjs")},
			{Function: file("e"), Script: true},
			{Function: file("f"), Label: true},
			{Function: file("g"), Module: lib},
		} {
			p.Main.Sample(begin+stream.Time(i), b.StackOf(f))
		}
	})
	shared := top.object("shared")
	texts, funcs, resources := shared["stringArray"].([]any), shared.object("funcTable"), shared.object("resourceTable")
	at := func(table object, column string, i int) any { return table[column].([]any)[i] }
	text := func(n any) string {
		if n == nil {
			return ""
		}
		return texts[int(n.(float64))].(string)
	}
	type resource struct {
		name, host string
		kind       float64
	}
	want := map[string]resource{
		"a": {"https://a.example", "a.example", 3}, "b": {"https://a.example", "a.example", 3},
		"c": {"https://b.example:8080", "b.example:8080", 3}, "d": {"resource://gre/x.mjs", "", 5},
		"e": {}, "f": {}, "g": {"lib.so", "", 1},
	}
	var used []float64
	for i := range int(funcs["length"].(float64)) {
		var got resource
		if n := at(funcs, "resource", i).(float64); n >= 0 {
			used = append(used, n)
			got = resource{text(at(resources, "name", int(n))), text(at(resources, "host", int(n))), at(resources, "type", int(n)).(float64)}
		}
		if name := text(at(funcs, "name", i)); got != want[name] {
			t.Errorf("%s lies in %+v, want %+v", name, got, want[name])
		}
	}
	slices.Sort(used)
	if n := len(slices.Compact(used)); len(want) != int(funcs["length"].(float64)) || n != 4 || float64(n) != resources["length"] {
		t.Errorf("%d functions lie in %d resources of %v", len(want), n, resources["length"])
	}
}
