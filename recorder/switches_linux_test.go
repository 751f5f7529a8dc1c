//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package recorder_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gprof/rawformat"
	"gprof/recorder"
)

func init() { children["disabled"] = disabledChild }

// disabledChild does what a program may do with a recorder.
func disabledChild() {
	recorder.StartEarly()
	one.Mark(1)
	for range 2 {
		rec, err := recorder.Start(recorder.Options{Dir: os.Args[1], Limit: 2 << 20, WallHz: 100, HeapEvery: 1, CPU: recorder.CPUAny})
		if err != nil {
			panic(err)
		}
		one.Mark(2)
		stacked.Mark(3)
		two.Begin(4, "text").End()
		rec.Pause()
		rec.Resume()
		rec.Stop()
	}
}

// traced is the system calls of a child, as strace writes them, and what the child says on
// standard error.
func traced(t *testing.T, name, dir string, env ...string) (calls, said string) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := child(name, []string{dir}, env...)
	strace := exec.Command("strace", append([]string{"-f", "-o", trace, cmd.Path}, cmd.Args[1:]...)...)
	strace.Env = cmd.Env
	out, err := strace.CombinedOutput()
	if err != nil {
		t.Fatalf("%v (apt-get install strace): %s", err, out)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), string(out)
}

// With GPROF_DISABLE=1 the recorder opens no file, makes no timer and asks the kernel for nothing;
// it says so once. Without, the same program does all that.
func TestDisabled(t *testing.T) {
	traces := []string{"timer_create", "membarrier", "process_vm_readv", "O_CREAT", "current_clocksource", "/proc/cpuinfo", "mkdir"}
	found := func(calls string) (all []string) {
		for _, what := range traces {
			for line := range strings.Lines(calls) {
				if strings.Contains(line, what) && !strings.Contains(line, "execve(") {
					all = append(all, strings.TrimSpace(line))
					break
				}
			}
		}
		return all
	}
	dir := t.TempDir()
	calls, said := traced(t, "disabled", dir, recorder.EnvDisable+"=1")
	if all := found(calls); len(all) > 0 {
		t.Errorf("system calls of the recorder:\n%s", strings.Join(all, "\n"))
	}
	if said != "gprof: switched off by GPROF_DISABLE\n" {
		t.Errorf("said %q", said)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	calls, said = traced(t, "disabled", dir)
	if all := found(calls); len(all) < 3 || said != "" {
		t.Errorf("a program that records makes only %q, and says %q", all, said)
	}
}

// GPROF_PORTABLE has some tricks avoided, or all: the recording says so, and has the markers.
func TestPortable(t *testing.T) {
	const avoided = "avoided, as GPROF_PORTABLE says"
	for _, tt := range []struct{ list, tests string }{
		{"1", "clock faults writers stacks cpu goroutines"},
		{"counter", "clock"},
		{"writers", "writers"},
		{"stacks", "stacks"},
		{"faults", "faults cpu writers"}, // whose code writes into mapped files and does not recover
		{"signals", "cpu"},
		{"0", ""},
	} {
		t.Run(tt.list, func(t *testing.T) {
			t.Setenv("GPROF_PORTABLE", tt.list)
			rec := begin(t, recorder.Options{CPU: recorder.CPUSignal, WallHz: 100})
			for n := range 1000 {
				one.Mark(int64(n))
			}
			stacked.Mark(1)
			r := finish(t, rec)
			if n := len(r.of("one")); n != 1000 {
				t.Errorf("%d markers", n)
			}
			for _, test := range []string{"clock", "faults", "writers", "stacks", "cpu"} {
				says := r.meta(rawformat.MetaSelfTest + test)
				if strings.Contains(says, avoided) != strings.Contains(tt.tests, test) {
					t.Errorf("%s: %s", test, says)
				}
			}
			if says := r.meta(rawformat.MetaSelfTest + "goroutines"); (says == "markers don't tell them") != strings.Contains(tt.tests, "goroutines") {
				t.Errorf("goroutines: %s", says)
			}
		})
	}
}
