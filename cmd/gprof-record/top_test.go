//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gprof/cmd/internal/live"
)

// lookAt is what gprof-record top --once --json shows.
func lookAt(t *testing.T, args ...string) (v live.View) {
	t.Helper()
	code, stdout, stderr := runTest(t, "", append([]string{"top", "--once", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != 0 {
		t.Fatalf("top %d, %v: %s%s", code, err, stdout, stderr)
	}
	return v
}

// What a running process does is seen while it goes on, and nothing of its session changes by that: the same
// process records into the same files, and there is no other.
func TestTopIsLive(t *testing.T) {
	dir := t.TempDir()
	serviceThat(t, dir, "busy")
	whole := func(v live.View) bool {
		return len(v.Processes) == 1 && v.Processes[0].CPU != nil && v.Processes[0].Memory != nil && len(v.Top.Rows) > 0 && v.Top.Value(v.Top.All) > 0 && len(v.Slow) > 0 &&
			v.Top.Rows[0].Name == "gprof/cmd/gprof-record.turn"
	}
	v := lookAt(t, "--dir", dir, "shop")
	for deadline := time.Now().Add(time.Minute); !whole(v); v = lookAt(t, "--dir", dir, "shop") {
		if time.Now().After(deadline) {
			t.Fatalf("%+v %+v", v, v.Top)
		}
	}
	p := v.Processes[0]
	if !p.Alive || !strings.HasPrefix(p.Title, "shop") || v.Seconds != 10 || v.Slow[0].Name != "worked" || v.Slow[0].Took <= 0 || len(v.Slow) > 5 {
		t.Errorf("%+v", v)
	}
	if later := status(t, "--dir", dir, "shop"); later.Alive() != 1 || len(later.Processes) != 1 || later.Processes[0].Instance != p.Instance || later.State != "recording" {
		t.Errorf("after the looks: %+v", later)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "shop"))
	if err != nil || len(entries) != 2 {
		t.Errorf("the session holds %v, %v; want the control page and a process", entries, err)
	}

	code, stdout, stderr := runTest(t, "", "top", "--once", "-n", "1", "--dir", dir, "shop")
	for _, want := range []string{"CPU  ", "goroutines  process", "of CPU time in", "-n 0 shows all", "slow marker", "worked  n="} {
		if !strings.Contains(stdout, want) || code != 0 {
			t.Errorf("top %d says\n%s%s\nwant %q", code, stdout, stderr, want)
		}
	}
	if strings.Contains(stdout, "\x1b") {
		t.Errorf("sequences, where there is no terminal: %q", stdout)
	}
}

// Of a session in which nobody is, top says so; what makes no sense is refused.
func TestTopOfNothing(t *testing.T) {
	dir := t.TempDir()
	cmd := service(t, dir)
	end(cmd)
	if code, stdout, _ := runTest(t, "", "top", "--once", "--last", "1ns", "--dir", dir, "shop"); code != 0 || !strings.Contains(stdout, "no process is running") {
		t.Errorf("%d %s", code, stdout)
	}
	for want, args := range map[string][]string{
		"no session in":    {"--dir", dir, "nobody"},
		"--last -1s":       {"--last=-1s", "--dir", dir, "shop"},
		"--every 0s":       {"--every=0s", "--dir", dir, "shop"},
		"--rows -1":        {"--rows=-1", "--dir", dir, "shop"},
		"--by must be one": {"--by=moon", "--dir", dir, "shop"},
		"no such file":     {"--once", "--symbols", filepath.Join(dir, "nowhere"), "--dir", dir, "shop"},
	} {
		if code, _, stderr := runTest(t, "", append([]string{"top"}, args...)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d %s, want %q", args, code, stderr, want)
		}
	}
}
