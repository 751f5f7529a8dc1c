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

// goList runs go list in a directory and returns its lines. The packages are there, but the
// go.mod file of a module that only other modules require may have to be downloaded.
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

// host makes the module of a program that embeds the recorder by replace lines, as
// `gprof-record embed` writes them, and returns its directory.
func host(t *testing.T, program string) string {
	t.Helper()
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	mod := "module host\n\ngo 1.26\n\nrequire gprof/recorder v0.0.0\n"
	for _, module := range []string{"rawformat", "chunks", "recorder"} {
		dir, err := filepath.Abs(filepath.Join("..", module))
		if err != nil {
			t.Fatal(err)
		}
		mod += "\nreplace gprof/" + module + " => " + dir + "\n"
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": mod, "go.sum": string(sums), "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A program that embeds the recorder gets our three modules and golang.org/x/sys. It gets
// nothing else, neither compiled into it nor in its graph of modules.
func TestFreshHost(t *testing.T) {
	dir := host(t, "package main\n\nimport (\n\t\"gprof/recorder\"\n\t_ \"gprof/recorder/debug\"\n)\n\nfunc main() {\n\trec, _ := recorder.Start(recorder.Options{})\n\tdefer rec.Stop()\n}\n")
	want := []string{"golang.org/x/sys", "gprof/chunks", "gprof/rawformat", "gprof/recorder", "host"}
	for _, args := range [][]string{{"-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "."}, {"-m", "-f", "{{.Path}}", "all"}} {
		got := goList(t, dir, args...)
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("go list %v: %v, want %v", args, got, want)
		}
	}
}

// The race detector reports nothing in a program that embeds the recorder, whatever parts of it
// the program uses.
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
