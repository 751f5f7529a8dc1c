package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gprof/stream"
)

// When the tables don't fit, the user is told the flag that helps.
func TestMemoryHint(t *testing.T) {
	var out bytes.Buffer
	s := &streams{stderr: &out}
	if code := s.end(fmt.Errorf("reading events: %w", &stream.ErrMemory{Need: 3 << 30, Have: 256 << 20})); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"need about 3072 MiB of memory, 256 MiB are allowed", "hint: run it again with --mem 3072MiB"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s\nwant %s", &out, want)
		}
	}
}
