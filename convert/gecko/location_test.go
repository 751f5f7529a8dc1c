package gecko

import (
	"encoding/json"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// classify reads a location string as the viewer does.
func classify(location string) (kind, name, module string) {
	native := nativePattern.FindStringSubmatch(location)
	switch {
	case strings.HasPrefix(location, "0x"):
		return "address", location, ""
	case native != nil:
		return "native", native[1], native[2]
	case scriptPattern.MatchString(location):
		return "script", location, ""
	}
	return "label", location, ""
}

func TestLocation(t *testing.T) {
	tests := []struct {
		function, module       string
		label                  bool
		kind, name, wantModule string
	}{
		{"main.work", "shop", false, "native", "main.work", "shop"},
		{"net/http.serve:12", "shop", false, "native", "net/http.serve:12", "shop"},
		{"f (a.js:1:2)", "shop", false, "native", "f (a.js:1:2)", "shop"},
		{"0xabc", "shop", false, "native", " 0xabc", "shop"},
		{"main", "a (copy)", false, "native", "main", "a (copy]"},
		{"main.main", "", false, "label", "main.main", ""},
		{"main.func1", "", false, "label", "main.func1", ""},
		{"GET /", "", true, "label", "GET /", ""},
		{"GET host:80", "", true, "label", "GET host:80 ", ""},
		{"a:1[5]", "", true, "label", "a:1[5] ", ""},
		{"f (a.js:1)", "", true, "label", "f (a.js:1) ", ""},
		{"f (a.js:1:2)[3]", "", true, "label", "f (a.js:1:2)[3] ", ""},
		{"f (in x)", "", true, "label", "f (in x) ", ""},
		{"f (in x) + 12", "", true, "label", "f (in x) + 12 ", ""},
		{"f (in x) (a:1)", "", true, "label", "f (in x) (a:1) ", ""},
		{"0x12", "", true, "label", " 0x12", ""},
		{"a:b", "", true, "label", "a:b", ""},
		{"item 3", "", true, "label", "item 3", ""},
		{"", "", true, "label", "(no name)", ""},
	}
	for _, tt := range tests {
		b := streamtest.NewBuilder()
		f := stream.Frame{Function: b.Tables.Strings.Intern(tt.function), Label: tt.label, Offset: 7}
		if tt.module != "" {
			f.Module = b.Tables.Modules.Intern(stream.Module{Name: tt.module})
		}
		b.StackOf(f)
		var c code
		c.build(b.Tables)
		location := string(c.appendLocation(nil, merge(f)))
		if kind, name, module := classify(location); kind != tt.kind || name != tt.name || module != tt.wantModule {
			t.Errorf("%+v is written as %q: %s %q in %q", tt, location, kind, name, module)
		}
	}
}

// A bare name and a native function of that name stay apart.
func TestLocationOfSameName(t *testing.T) {
	b := streamtest.NewBuilder()
	name := b.Tables.Strings.Intern("main")
	module := b.Tables.Modules.Intern(stream.Module{Name: "shop"})
	frames := []stream.Frame{{Function: name, Label: true}, {Function: name}, {Function: name, Module: module}}
	b.StackOf(frames...)
	var c code
	c.build(b.Tables)
	for i, want := range []string{"main (label)", "main (in unknown)", "main (in shop)"} {
		if got := string(c.appendLocation(nil, merge(frames[i]))); got != want {
			t.Errorf("%+v is written as %q, want %q", frames[i], got, want)
		}
	}
}

// An address lies in the range of its module, as far from its start as the
// frame in the module.
func TestAddresses(t *testing.T) {
	b := streamtest.NewBuilder()
	a := b.Tables.Modules.Intern(stream.Module{Name: "a"})
	z := b.Tables.Modules.Intern(stream.Module{Name: "z"})
	b.StackOf(stream.Frame{Module: a, Offset: 4096}, stream.Frame{Module: a}, stream.Frame{Module: z, Offset: 0x10},
		stream.Frame{Offset: 0x401000}, stream.Frame{Module: z, Offset: 1 << 60})
	var c code
	c.build(b.Tables)
	tests := []struct {
		frame stream.Frame
		want  string
	}{
		{stream.Frame{Module: a, Offset: 4096}, "0x1000000001000"},
		{stream.Frame{Module: a}, "0x1000000000000"},
		{stream.Frame{Module: z, Offset: 0x10}, "0x1000000002010"},
		{stream.Frame{Offset: 0x401000}, "0x401000"},
		{stream.Frame{Module: z, Offset: 1 << 60}, "0x1000000000000000"},
	}
	for _, tt := range tests {
		if got := string(c.appendLocation(nil, tt.frame)); got != tt.want {
			t.Errorf("%+v is written as %s, want %s", tt.frame, got, tt.want)
		}
	}
	if want := (addresses{1<<48 + 0x2000, 1<<48 + 0x3000}); c.ranges[z] != want {
		t.Errorf("range of z %x, want %x", c.ranges[z], want)
	}
}

// A process lists the modules that it has frames of, not those of another one.
func TestLibsOfProcess(t *testing.T) {
	b := streamtest.NewBuilder()
	for i, name := range []string{"front", "worker"} {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: i + 1, Name: name, Start: begin, End: begin + second})
		p.Main.Sample(begin, b.StackOf(stream.Frame{Module: b.Tables.Modules.Intern(stream.Module{Name: name}), Offset: 8}))
	}
	var top object
	if err := json.Unmarshal(convert(t, b.Source()), &top); err != nil {
		t.Fatal(err)
	}
	for i, p := range append([]object{top}, members(top.list("processes"))...) {
		libs := members(p.list("libs"))
		if want := []string{"front", "worker"}[i]; len(libs) != 1 || libs[0]["name"] != want {
			t.Errorf("process %d has modules %v, want %s alone", i, libs, want)
		}
	}
}
