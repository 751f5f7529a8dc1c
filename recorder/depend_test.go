package recorder_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gprof/rawformat"
)

// goList runs go list in a directory and returns its lines. Packages are at hand, but
// the go.mod of a module that only others require may have to be downloaded.
func goList(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		exit, _ := err.(*exec.ExitError)
		t.Fatalf("go list %v: %v\n%s", args, err, exit.Stderr)
	}
	return strings.Fields(string(out))
}

// The recorder depends on the standard library, golang.org/x/sys, and the packages of
// ours that know the format and its files.
func TestDependencies(t *testing.T) {
	found := goList(t, ".", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "gprof/recorder", "gprof/recorder/auto", "gprof/recorder/early")
	ours := []string{"gprof/rawformat/buildid", "gprof/rawformat", "gprof/chunks", "gprof/recorder", "gprof/recorder/auto", "gprof/recorder/early"}
	for _, p := range found {
		if !slices.Contains(ours, p) && !strings.HasPrefix(p, "gprof/recorder/internal/") && !strings.HasPrefix(p, "golang.org/x/sys/") {
			t.Errorf("depends on %s", p)
		}
	}
	if len(found) <= len(ours) {
		t.Errorf("only %v: golang.org/x/sys is missing", found)
	}
}

// host makes the module of a program that has the recorder by replace, and returns
// its directory.
func host(t *testing.T, program string) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	sys := goList(t, root, "-m", "-f", "{{.Version}}", "golang.org/x/sys")[0]
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module host\n\ngo 1.26\n\nrequire (\n\tgprof v0.0.0\n\tgolang.org/x/sys " + sys + " // indirect\n)\n\nreplace gprof => " + root + "\n",
		"go.sum":  string(sums),
		"main.go": program,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A program that embeds the recorder, by replace, compiles nothing but that: its
// modules are named before and after.
func TestFreshHost(t *testing.T) {
	before := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module host\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(before, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found := goList(t, before, "-m", "all"); !slices.Equal(found, []string{"host"}) {
		t.Errorf("before: %v", found)
	}
	dir := host(t, "package main\n\nimport \"gprof/recorder\"\n\nfunc main() {\n\trec, _ := recorder.Start(recorder.Options{})\n\tdefer rec.Stop()\n}\n")
	after := goList(t, dir, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	slices.Sort(after)
	if after = slices.Compact(after); !slices.Equal(after, []string{"golang.org/x/sys", "gprof", "host"}) {
		t.Errorf("modules that are compiled into the host: %v", after)
	}
	all := goList(t, dir, "-m", "-f", "{{.Path}}", "all")
	t.Logf("%d modules in go list -m all: %v", len(all), all)
	for _, m := range []string{"host", "gprof", "golang.org/x/sys"} {
		if !slices.Contains(all, m) {
			t.Errorf("go list -m all is without %s: %v", m, all)
		}
	}
}

// A program of somebody else's that is built with the race detector gets no report
// of ours, whatever of the recorder it uses.
func TestFreshRaceHost(t *testing.T) {
	program, err := os.ReadFile("testdata/host/main.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := host(t, string(program))
	build := exec.Command("go", "build", "-race", "-o", "host", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(filepath.Join(dir, "host"), filepath.Join(dir, "recordings"), filepath.Join(dir, "snapshots"))
	var stderr strings.Builder
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	words := strings.Fields(string(out))
	r := read(t, words[0])
	t.Logf("%s requests, %d samples, %d traces, %d markers on the track that is wanted", words[1], r.kinds[rawformat.KindSample], len(r.Traces), len(r.of("request")))
	if len(r.of("before main")) != 1 || len(r.of("request")) == 0 || len(r.of("stack")) == 0 || len(r.Traces) == 0 {
		t.Errorf("%d entries, %d traces", len(r.entries), len(r.Traces))
	}
}
