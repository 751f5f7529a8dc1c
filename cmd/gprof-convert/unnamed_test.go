package main

import (
	"strings"
	"testing"
)

// What can't be found by a build id is said to be found elsewhere.
func TestUnnamedHints(t *testing.T) {
	for module, want := range map[string]string{kernelModule: "/proc/kallsyms", madeModule: "/tmp/perf-PID.map", "/bin/x": ""} {
		m := summary{Frames: 3, Unnamed: []*unnamedFrames{{Module: module, Frames: 2}}}
		var out strings.Builder
		m.printUnnamed(&out)
		got := out.String()
		if !strings.Contains(got, "2 of 3 frames") || !strings.Contains(got, want) || strings.Contains(got, "--symbols /") != (want != "") {
			t.Errorf("of %s it says %s", module, got)
		}
	}
}
