package recorder_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goList runs go list in a directory and returns its lines. The module's own
// dependencies are at hand: nothing is downloaded.
func goList(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		exit, _ := err.(*exec.ExitError)
		t.Fatalf("go list %v: %v\n%s", args, err, exit.Stderr)
	}
	return strings.Fields(string(out))
}

// The recorder depends on the standard library, golang.org/x/sys, and three of our
// packages.
func TestDependencies(t *testing.T) {
	found := goList(t, ".", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "gprof/recorder", "gprof/recorder/auto", "gprof/recorder/early")
	ours := []string{"gprof/rawformat", "gprof/chunks", "gprof/recorder", "gprof/recorder/auto", "gprof/recorder/early"}
	for _, p := range found {
		if !slices.Contains(ours, p) && !strings.HasPrefix(p, "golang.org/x/sys/") {
			t.Errorf("depends on %s", p)
		}
	}
	if len(found) <= len(ours) {
		t.Errorf("only %v: golang.org/x/sys is missing", found)
	}
}

// A program that embeds the recorder, by replace, compiles nothing but that: its
// modules are named before and after.
func TestFreshHost(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	host := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(host, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module host\n\ngo 1.26\n")
	write("main.go", "package main\n\nfunc main() {}\n")
	before := goList(t, host, "-m", "all")
	if !slices.Equal(before, []string{"host"}) {
		t.Errorf("before: %v", before)
	}
	sys := goList(t, root, "-m", "-f", "{{.Version}}", "golang.org/x/sys")[0]
	write("go.mod", "module host\n\ngo 1.26\n\nrequire (\n\tgprof v0.0.0\n\tgolang.org/x/sys "+sys+" // indirect\n)\n\nreplace gprof => "+root+"\n")
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", string(sums))
	write("main.go", "package main\n\nimport \"gprof/recorder\"\n\nfunc main() {\n\trec, _ := recorder.Start(recorder.Options{})\n\tdefer rec.Stop()\n}\n")
	after := goList(t, host, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	slices.Sort(after)
	if after = slices.Compact(after); !slices.Equal(after, []string{"golang.org/x/sys", "gprof", "host"}) {
		t.Errorf("modules that are compiled into the host: %v", after)
	}
	all := goList(t, host, "-m", "-f", "{{.Path}}", "all")
	t.Logf("%d modules in go list -m all: %v", len(all), all)
	for _, m := range []string{"host", "gprof", "golang.org/x/sys"} {
		if !slices.Contains(all, m) {
			t.Errorf("go list -m all is without %s: %v", m, all)
		}
	}
}
