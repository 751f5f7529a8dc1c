package buildid_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gprof/rawformat/buildid"
)

// build compiles a program and returns its build id.
func build(t *testing.T, dir, source string, flags ...string) string {
	t.Helper()
	src, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "exe")
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), src)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := buildid.Of(f)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Two builds have two ids, whatever the linker was told; the same build twice
// has one.
func TestBuildIDs(t *testing.T) {
	const one = "package main\nfunc main() { println(1) }\n"
	const shifted = "package main\n\n\nfunc main() { println(1) }\n" // the same code, other lines
	dir := t.TempDir()
	plain := build(t, dir, one)
	if strings.HasPrefix(plain, buildid.ContentPrefix) || plain == "" {
		t.Errorf("build id %q, want the linker's", plain)
	}
	for _, flags := range []string{"-ldflags=-buildid= -B none", "-ldflags=-buildid=", "-ldflags=-buildid=redacted", "-ldflags=-buildid=redacted -B none", "-ldflags=-buildid=a//b/c"} {
		first, second, again := build(t, dir, one, flags), build(t, dir, shifted, flags), build(t, dir, one, flags)
		if !strings.HasPrefix(first, buildid.ContentPrefix) || first == second {
			t.Errorf("%s: build ids %q and %q, want two hashes", flags, first, second)
		}
		if first != again {
			t.Errorf("%s: one build has ids %q and %q", flags, first, again)
		}
	}
}
