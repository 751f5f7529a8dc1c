package main

import (
	"bytes"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// namelessOf is what is known of so many samples in a function with a name, and
// in one of a module without.
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
	var n nameless
	if err := stream.Copy(&n, streamtest.NewSource(tables, streamtest.Batches(tables, []streamtest.Row{row, other}, 2)...), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	n.hint(&streams{stderr: &out})
	return out.String()
}

// Who has many samples without names is told how to get them, where that helps.
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
