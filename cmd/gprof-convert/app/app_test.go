package app

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/input"
	"gprof/stream"
)

// When the tables don't fit, the user is told the flag that helps.
func TestMemoryHint(t *testing.T) {
	var out bytes.Buffer
	s := &input.Tool{Console: console.New("gprof-convert", nil, nil, &out)}
	if code := finish(s, fmt.Errorf("reading events: %w", &stream.ErrMemory{Need: 3 << 30, Have: 256 << 20, Processes: 9000})); code != console.Again {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"need about 3072 MiB of memory, 256 MiB are allowed", "hint: run it again with --mem 3072MiB; or leave out what tells 9000 processes apart, as --sum does, or have batch --together read"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s\nwant %s", &out, want)
		}
	}
}

// Without a screen no browser is started: it would take the terminal.
func TestNoScreen(t *testing.T) {
	if runtime.GOOS != "linux" {
		return
	}
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	var stdout, stderr bytes.Buffer
	s := &input.Tool{Console: console.New("gprof-convert", nil, &stdout, &stderr)}
	new(viewCmd).point(s, "http://127.0.0.1:1/secret/")
	if stdout.String() != "http://127.0.0.1:1/secret/\n" || !strings.Contains(stderr.String(), "there is no screen here") || !strings.Contains(stderr.String(), "ssh -L") {
		t.Errorf("printed %q and %q", stdout.String(), stderr.String())
	}
}
