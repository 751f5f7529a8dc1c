package main

import (
	"strings"
	"testing"
)

// A binary is asked for where there is one to be known by its build id.
func TestUnnamedAdvice(t *testing.T) {
	for build, want := range map[string]bool{"": false, "ab12": true} {
		var out strings.Builder
		m := summary{Frames: 9, Unnamed: []*unnamedFrames{{Module: "no known module", Frames: 1}, {Module: "shop", Build: build, Frames: 2}}}
		m.printUnnamed(&out)
		if got := strings.Contains(out.String(), "--symbols"); got != want || !strings.HasPrefix(out.String(), "\n3 of 9 frames have no name. ") {
			t.Errorf("build %q: %q", build, out.String())
		}
	}
}
