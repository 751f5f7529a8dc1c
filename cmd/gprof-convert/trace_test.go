//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"gprof/cmd/internal/console"
)

// A filter by a marker says that the marker had no waits of its own.
func TestNoWaitsDuring(t *testing.T) {
	t.Chdir(t.TempDir())
	traceTo(t, "trace.out")
	for _, c := range []struct {
		flags string
		told  bool
	}{{"--during region", true}, {"--during region --during-all", false}, {"-q --during region", false}, {"", false}} {
		var stderr bytes.Buffer
		code := run(append([]string{"trace.out", "-o", "trace.folded"}, strings.Fields(c.flags)...), nil, &stderr, &stderr)
		if told := strings.Contains(stderr.String(), "--during-all keeps"); code != console.OK || told != c.told {
			t.Errorf("%s: exit code %d\n%s", c.flags, code, &stderr)
		}
	}
}

// traceTo traces this process until there is a region of a few milliseconds in
// more than a second.
func traceTo(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trace.Start(f); err != nil {
		t.Fatal(err)
	}
	defer trace.Stop()
	for end := time.Now().Add(1100 * time.Millisecond); time.Now().Before(end); {
		trace.WithRegion(context.Background(), "wait", func() { <-time.After(20 * time.Millisecond) })
	}
}
