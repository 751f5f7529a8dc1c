package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gprof/cmd/internal/console"
)

// The exit code tells a bad input, which stays bad, from a machine that fails, where another
// try may work: a disk that is full or does not answer, too little memory, an output that has
// no place.
func TestExitCodeTellsWhetherToTryAgain(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	recordTo(t, "session", 0o700, 0o600)
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("bad.gprof", "no recording")
	write("dumps/bad.gprof", "no recording")
	write("torn/broken.gprof", "no recording")
	const sick = "/proc/self/mem" // reading it from the start is an I/O error
	if err := os.Symlink(sick, "torn/sick.gprof"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()

	for _, c := range []struct {
		what string
		args []string
		to   io.Writer
		want int
	}{
		{"a bad input", []string{"bad.gprof", "-o", "a.json"}, nil, console.Failed},
		{"no input", []string{"nowhere", "-o", "a.json"}, nil, console.Failed},
		{"a bad input of two", []string{"bad.gprof", "session", "-o", "a.json"}, nil, console.Failed},
		{"a wrong flag", []string{"session", "-o", "a.xyz"}, nil, console.Usage},
		{"an unreadable input", []string{sick, "-o", "a.json"}, nil, console.Again},
		{"an unreadable input of two", []string{sick, "session", "-o", "a.json"}, nil, console.Again},
		{"a pipe that hangs", []string{"pipe", "--stall", "1ms", "-o", "a.json"}, nil, console.Again},
		{"a missing directory", []string{"session", "-o", "nowhere/a.json"}, nil, console.Again},
		{"a missing directory of tables", []string{"session", "-o", "parquet=nowhere/tables"}, nil, console.Again},
		{"a full disk", []string{"session", "-f", "gecko", "-o", "-"}, full, console.Again},
		{"a full disk, of a table", []string{"info", "session"}, full, console.Again},
		{"a batch with a bad input", []string{"batch", "dumps", "-o", "out"}, nil, console.Failed},
		{"a batch with an unreadable input, too", []string{"batch", "torn", "-o", "out2"}, nil, console.Again},
	} {
		var said strings.Builder
		if c.to == nil {
			c.to = &said
		}
		if code := run(c.args, strings.NewReader(""), c.to, &said); code != c.want {
			t.Errorf("%s: exit code %d, want %d: %s", c.what, code, c.want, said.String())
		}
	}
}

// So does an input that has to be unpacked where there is no room.
func TestExitCodeWithoutTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	recordTo(t, "session", 0o700, 0o600)
	gprof(t, 0, "pack", "session", "-q", "-o", "a.gprof")
	t.Setenv("TMPDIR", filepath.Join(dir, "nowhere"))
	packed, err := os.Open("a.gprof")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	var said strings.Builder
	if code := run([]string{"info", "-"}, packed, &said, &said); code != console.Again {
		t.Errorf("exit code %d, want %d: %s", code, console.Again, said.String())
	}
}
