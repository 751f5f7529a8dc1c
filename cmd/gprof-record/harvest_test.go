//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A service that was killed is harvested by its name, beside one that runs, and once.
func TestHarvest(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "crashes")
	a, b := service(t, dir), service(t, dir)
	end(a)
	args := []string{"harvest", "--dir", dir, "shop", "--to", out}
	code, stdout, stderr := runTest(t, "", args...)
	for range 100 { // the other one may be writing how it ended
		if code == 0 && strings.Contains(stderr, "1 recording saved") {
			break
		}
		code, stdout, stderr = runTest(t, "", args...)
	}
	if code != 0 || stdout != "" || !strings.Contains(stderr, "gprof-record: saved "+out+"/shop/") || !strings.Contains(stderr, "; 0 were there already; 1 process running\n") {
		t.Errorf("status %d: %s%s", code, stdout, stderr)
	}
	end(b)
	code, stdout, stderr = runTest(t, "", append(args, "--json")...)
	var lines []map[string]any
	for line := range strings.Lines(stdout) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Error(line, err)
		}
		lines = append(lines, m)
	}
	if code != 0 || stderr != "" || len(lines) != 3 {
		t.Fatalf("status %d: %s%s", code, stdout, stderr)
	}
	if done := lines[2]; done["event"] != "done" || done["saved"] != 1.0 || done["present"] != 1.0 || done["left"] != 0.0 {
		t.Errorf("%v", done)
	}
	if files, err := filepath.Glob(filepath.Join(out, "shop", "*", "*.gprof")); err != nil || len(files) != 2 {
		t.Errorf("%q, %v", files, err)
	}
}

// What can't be done is told, by exit codes too: 5 if another try may work.
func TestHarvestErrors(t *testing.T) {
	dir := t.TempDir()
	a := service(t, dir)
	end(a)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{dir, "--to", file + "/below"}, 5, "1 recording not saved: "},
		{[]string{dir, "--to", filepath.Join(dir, "unmounted", "below")}, 5, "unmounted"},
		{[]string{filepath.Join(dir, "none"), "--to", dir}, 1, "no session in "},
		{[]string{file, "--to", dir}, 1, "could not be read"},
		{[]string{"", "--to", dir}, 1, "no session: want"},
		{[]string{dir, "--to", "s3://"}, 1, "want s3://BUCKET/NAME"},
		{[]string{dir}, 2, "--to"},
		{[]string{dir, "--to", dir, "--rate", "0"}, 2, "more than nothing"},
		{[]string{dir, "--to", dir, "--jobs", "0"}, 2, "want 1 to 64"},
		{[]string{dir, "--to", dir, "--every", "0s"}, 2, "want 10ms or more"},
	} {
		if code, _, stderr := runTest(t, "", append([]string{"harvest"}, c.args...)...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: status %d, want %d and %q:\n%s", c.args, code, c.code, c.says, stderr)
		}
	}
}
