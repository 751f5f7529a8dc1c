package report

import (
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// namelessOf is the sink after so many samples in a function with a name, and in one of a
// module without.
func namelessOf(t *testing.T, named, bare int64, m stream.Module) string {
	t.Helper()
	tables := &stream.Tables{Processes: []stream.Process{{Instance: 1, Name: "shop"}}}
	track := tables.Tracks.Intern(stream.Track{Process: 1, Name: "shop", Main: true})
	module := tables.Modules.Intern(m)
	outer := tables.Stacks.Intern(0, tables.Frames.Intern(stream.Frame{Function: tables.Strings.Intern("main"), Module: module}))
	inner := tables.Stacks.Intern(outer, tables.Frames.Intern(stream.Frame{Module: module, Offset: 7}))
	row := streamtest.Row{Series: stream.Series{Process: 1, Track: track}, Stack: outer, Weight: named, Index: 1}
	other := row
	other.Stack, other.Weight, other.Index = inner, bare, 2
	var n Nameless
	if err := stream.Copy(&n, streamtest.NewSource(tables, streamtest.Batches(tables, []streamtest.Row{row, other}, 2)...), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return n.Hint()
}

// If many samples are without names, a hint says how to get them, where that helps.
func TestNameless(t *testing.T) {
	built := stream.Module{Build: "ab", Name: "shop"}
	if got := namelessOf(t, 60, 40, built); !strings.Contains(got, "40.0% of the samples") || !strings.Contains(got, "--symbols") || strings.Contains(got, "kallsyms") {
		t.Errorf("%q", got)
	}
	if got := namelessOf(t, 0, 7, stream.Module{Build: "cd", Name: kernelModule}); !strings.Contains(got, "100.0%") || !strings.Contains(got, "--symbols /proc/kallsyms") {
		t.Errorf("%q", got)
	}
	for _, got := range []string{namelessOf(t, 99, 1, built), namelessOf(t, 60, 40, stream.Module{Path: "/bin/shop", Name: "shop"})} {
		if got != "" {
			t.Errorf("%q, want nothing", got)
		}
	}
}

// Hints name the source of functions that no build id leads to.
func TestUnnamedHints(t *testing.T) {
	for module, want := range map[string]string{kernelModule: "/proc/kallsyms", madeModule: "/tmp/perf-PID.map", "/bin/x": ""} {
		m := recordingSummary{Frames: new(3), Unnamed: []*unnamedFrames{{Module: module, Frames: 2}}}
		var out strings.Builder
		m.printUnnamed(&out)
		got := out.String()
		if !strings.Contains(got, "2 of 3 frames") || !strings.Contains(got, want) || strings.Contains(got, "--symbols /") != (want != "") {
			t.Errorf("of %s it says %s", module, got)
		}
	}
}

// A binary is asked for if it can be recognised by its build id.
func TestUnnamedAdvice(t *testing.T) {
	for build, want := range map[string]bool{"": false, "ab12": true} {
		var out strings.Builder
		m := recordingSummary{Frames: new(9), Unnamed: []*unnamedFrames{{Module: "no known module", Frames: 1}, {Module: "shop", Build: build, Frames: 2}}}
		m.printUnnamed(&out)
		if got := strings.Contains(out.String(), "--symbols"); got != want || !strings.HasPrefix(out.String(), "\n3 of 9 frames have no name. ") {
			t.Errorf("build %q: %q", build, out.String())
		}
	}
}
