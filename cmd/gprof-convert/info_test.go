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
