package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build builds testdata/outside as a module that is not in this repository, and returns
// the program. Its other requirements are those of our own go.mod, so nothing is
// fetched.
func build(t *testing.T) (program string) {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS("testdata/outside")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			mod := strings.NewReplacer("module gprof\n", "module example.com/outside\n", "=> ./", "=> "+filepath.ToSlash(root)+"/").Replace(string(text))
			text = []byte(mod + "\nrequire gprof v0.0.0\n\nreplace gprof => " + filepath.ToSlash(root) + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program = filepath.Join(dir, "converter")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// A module from outside adds a source and a sink, which the commands then know like
// those of our own.
func TestOutside(t *testing.T) {
	program, dir := build(t), t.TempDir()
	converter := func(want int, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%v: exit code %d, want %d\n%s", args, code, want, out)
		}
		return string(out)
	}
	const text = "sketch shop 2026-11-21T17:02:00Z\nmain.main main.serve\nmain.main main.serve\nmain.main main.idle\n"
	for name, text := range map[string]string{"a.sketch": text, "bad.sketch": "sketch of a cat\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := strings.NewReplacer("shop", "till", "main.idle", "main.wait").Replace(text)
	if err := os.WriteFile(filepath.Join(dir, "b.sketch"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	// Of a part of the time, without what may be secret, of several processes, one file each.
	converter(0, "a.sketch", "-q", "--last", "15ms", "-o", "part.tally")
	converter(0, "a.sketch", "-q", "--redact=all", "-o", "redacted.tally")
	converter(0, "a.sketch", "b.sketch", "-q", "-o", "both.tally")
	converter(0, "a.sketch", "b.sketch", "-q", "--per", "process", "-o", "per-{process}.tally")
	// From its source to its sink, to ours, and into a batch.
	converter(0, "a.sketch", "-q", "-o", "out.tally", "-o", "out.folded", "-o", "packed.tally.gz")
	converter(1, "batch", ".", "-q", "-f", "tally", "-o", "batch", "--last", "15ms") // one input is bad
	for name, want := range map[string]string{
		"part.tally":           "1 main.idle\n",
		"redacted.tally":       "2 main.serve\n1 main.idle\n",
		"both.tally":           "4 main.serve\n1 main.idle\n1 main.wait\n",
		"per-shop.tally":       "2 main.serve\n1 main.idle\n",
		"per-till.tally":       "2 main.serve\n1 main.wait\n",
		"out.tally":            "2 main.serve\n1 main.idle\n",
		"batch/a.sketch.tally": "1 main.idle\n",
		"out.folded":           "shop;main;main.main;main.idle 1\nshop;main;main.main;main.serve 2\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	// The new formats are named in help and errors, as ours are.
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{0, []string{"--help"}, "a sketch of a profile, a pprof profile"},
		{0, []string{"help", "convert"}, ".tally  tally: samples by function, as plain text"},
		{0, []string{"help", "convert"}, "arrow, tally, tally.gz."},
		{0, []string{"info", "a.sketch"}, "sketch file of"},
		{0, []string{"top", "a.sketch"}, "main.serve"},
		{1, []string{"info", "bad.sketch"}, `want "sketch PROGRAM TIME" in the first line`},
		{1, []string{"pack", "a.sketch", "-o", "x.gprof"}, "a sketch file can't be packed"},
		{2, []string{"a.sketch", "-o", "x.zzz"}, ".tally[.gz]"},
	} {
		if got := converter(c.code, c.args...); !strings.Contains(strings.Join(strings.Fields(got), " "), c.want) && !strings.Contains(got, c.want) {
			t.Errorf("%v does not say %q:\n%s", c.args, c.want, got)
		}
	}
}
