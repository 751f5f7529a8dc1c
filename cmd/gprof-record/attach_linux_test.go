package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/cmd/internal/console"
	"gprof/cmd/internal/session"
	"gprof/rawformat"
)

// isRefused reports whether the kernel refused, as it may in a container; then there must
// have been a hint.
func isRefused(t *testing.T, stderr string) bool {
	t.Helper()
	if !strings.Contains(stderr, "perf_event_open") {
		return false
	}
	if !strings.Contains(stderr, "hint: ") {
		t.Errorf("it is not said what would allow it: %s", stderr)
	}
	return true
}

// A path in a hint is the same path for a shell.
func TestShellWord(t *testing.T) {
	for _, path := range []string{"/usr/bin/gcc-12", "/srv/my recordings", "it's", "$HOME", "a;b", "*", "~", "\"x\"", `back\slash`, "", "new\nline"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellWord(path)).Output()
		if err != nil || string(out) != path {
			t.Errorf("%q is %q to a shell, %v", path, out, err)
		}
	}
	if got := shellWord("/usr/bin/gcc-12"); got != "/usr/bin/gcc-12" {
		t.Errorf("what needs no quotes is %s", got)
	}
}

// exits are the ends of the processes of a session, by their arguments.
func exits(t *testing.T, at string) map[string]chunks.Exit {
	t.Helper()
	all := map[string]chunks.Exit{}
	for _, dir := range session.Processes(at) {
		p, err := chunks.OpenProcess(os.DirFS(dir), ".")
		if err != nil {
			t.Fatal(err)
		}
		sampler, args := "", ""
		for _, m := range p.Meta {
			switch m.Key {
			case rawformat.MetaSampler:
				sampler = m.Value
			case rawformat.MetaArg:
				args += " " + m.Value
			}
		}
		if sampler != "perf_event" || p.Exit == nil {
			t.Errorf("%s: sampled by %q, exit %v", args, sampler, p.Exit)
			continue
		}
		all[strings.TrimSpace(args)] = *p.Exit
	}
	return all
}

// A command without a recorder runs as usual, and is recorded with its status.
func TestRunPerf(t *testing.T) {
	for script, want := range map[string]struct {
		code   int
		reason rawformat.ExitReason
		told   int64
	}{
		"i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; exit 5":     {5, rawformat.ExitNormal, 5},
		"i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; kill -9 $$": {137, rawformat.ExitSignal, 9},
	} {
		dir := t.TempDir()
		code, _, stderr := runTest(t, "", "run", "--perf", "--dir", dir, "--limit", "2MiB", "--rate", "2000", "--", "sh", "-c", script)
		if code != want.code {
			t.Errorf("exit status %d, want %d; %s", code, want.code, stderr)
		}
		if isRefused(t, stderr) {
			return
		}
		got := exits(t, filepath.Join(dir, "sh"))["sh -c "+script]
		if got.Reason != want.reason || got.Code != want.told {
			t.Errorf("%q: %+v; %s", script, got, stderr)
		}
		if !strings.Contains(stderr, " in "+filepath.Join(dir, "sh")+"\n") || !strings.Contains(stderr, "hint: gprof-convert "+dir) {
			t.Errorf("stderr %q", stderr)
		}
	}
}

func TestAttachNobody(t *testing.T) {
	code, _, stderr := runTest(t, "", "attach", "-p", strconv.Itoa(1<<22), "--dir", t.TempDir())
	if code != console.Failed || !isRefused(t, stderr) && !strings.Contains(stderr, "pid 4194304: no such process") {
		t.Errorf("exit status %d; %s", code, stderr)
	}
	code, _, stderr = runTest(t, "", "attach", "-p", "1", "--rate", "0", "--dir", t.TempDir())
	if code != console.Failed || !strings.Contains(stderr, "--rate 0: ") {
		t.Errorf("a rate of 0: exit status %d; %s", code, stderr)
	}
}

// A command runs on after it was sampled for some time.
func TestAttach(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.gprof")
	code, _, stderr := runTest(t, "", "attach", "-p", strconv.Itoa(os.Getpid()), "--duration", "200ms", "--dir", dir, "-o", file)
	if isRefused(t, stderr) {
		return
	}
	if code != console.OK || !strings.Contains(stderr, "packed 1 process") {
		t.Fatalf("exit status %d; %s", code, stderr)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
