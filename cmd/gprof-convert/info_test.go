package main

import (
	"strings"
	"testing"
)

// Only who has very many samples is told of the format for them.
func TestHintForManySamples(t *testing.T) {
	for _, tt := range []struct {
		samples int64
		want    bool
	}{{0, false}, {manySamples, false}, {manySamples + 1, true}} {
		var out strings.Builder
		m := summary{Counts: map[string]int64{"samples": tt.samples}}
		m.printLarge(&out)
		if got := strings.Contains(out.String(), "--format firefox"); got != tt.want {
			t.Errorf("%d samples: %q", tt.samples, out.String())
		}
	}
}

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
