//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/cmd/internal/batch"
	"gprof/fixtures"
	"gprof/rawformat"
)

// recordTo makes a recording whose directories and files have these modes.
func recordTo(t *testing.T, dir string, dirs, files fs.FileMode) {
	t.Helper()
	r, err := fixtures.New(dir, fixtures.Options{Instance: 1, Pid: 101, Start: 1e9, Realtime: fixtures.Realtime, Meta: []chunks.Meta{{Key: rawformat.MetaService, Value: "shop"}}})
	if err == nil {
		err = errors.Join(r.Lines(`sample time=+0 thread=1 goroutine=0 track=0 stack=0 weight=1 cpu=1001 window=0`), r.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tree(t, dir) {
		mode := files
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			mode = dirs
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// gprof runs the command and returns what it said.
func gprof(t *testing.T, want int, args ...string) string {
	t.Helper()
	var said strings.Builder
	if code := run(args, strings.NewReader(""), &said, &said); code != want {
		t.Errorf("%v: exit status %d, want %d: %s", args, code, want, said.String())
	}
	return said.String()
}

// An output is no more open than the recordings that it was made of, and within the
// umask.
func TestOutputModes(t *testing.T) {
	for name, c := range map[string]struct{ dirs, files, want fs.FileMode }{
		"private": {0o700, 0o600, 0o600},
		"group":   {0o750, 0o640, 0o660},
		"open":    {0o755, 0o644, 0o666},
		"mixed":   {0o755, 0o600, 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
			recordTo(t, in, c.dirs, c.files)
			probe, err := os.OpenFile(filepath.Join(t.TempDir(), "probe"), os.O_CREATE, 0o666)
			if err != nil {
				t.Fatal(err)
			}
			probe.Close()
			within, err := os.Stat(probe.Name())
			if err != nil {
				t.Fatal(err)
			}
			want := c.want & within.Mode() // the umask is in it
			gprof(t, 0, in, "-q", "-o", out+".json", "-o", "parquet="+out+"-tables", "--losses", out+".losses")
			gprof(t, 0, "pack", in, "-q", "-o", out+".gprof")
			gprof(t, 0, out+".gprof", "-q", "-o", out+".pb.gz")
			gprof(t, 0, "batch", in, "-q", "-o", out+"-batch", "--format", "folded")
			some := 0
			for _, name := range tree(t, dir) {
				info, err := os.Stat(name)
				if err != nil || strings.HasPrefix(name, in) || info.IsDir() || filepath.Base(name) == batch.JournalName {
					continue
				}
				if some++; info.Mode().Perm() != want {
					t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
				}
			}
			if some < 6 {
				t.Errorf("only %d outputs", some)
			}
		})
	}
}

// Nothing is written through a link of another user, be it what -o names or below it.
func TestForeignLinks(t *testing.T) {
	dir := t.TempDir()
	in, victim, link := filepath.Join(dir, "in"), filepath.Join(dir, "victim"), filepath.Join(dir, "link")
	recordTo(t, in, 0o700, 0o600)
	gprof(t, 0, "pack", in, "-q", "-o", in+".gprof")
	if err := os.Mkdir(victim, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	gprof(t, 0, in, "-q", "-o", filepath.Join(link, "own.json")) // through a link of one's own
	if err := os.Remove(filepath.Join(victim, "own.json")); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return // only root gives files away
	}
	if err := os.Lchown(link, 4711, 4711); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"unpack", in + ".gprof", "-q", "-o", link},
		{"batch", in, "-q", "-o", link, "--format", "folded"},
		{"batch", in, "-q", "-o", filepath.Join(link, "below"), "--format", "parquet"},
		{in, "-q", "-o", filepath.Join(link, "x.json")},
		{in, "-q", "-o", filepath.Join(link, "tables"), "--format", "parquet"},
		{in, "-q", "--per", "process", "-o", filepath.Join(link, "{process}.json")},
		{"pack", in, "-q", "-o", filepath.Join(link, "x.gprof")},
	} {
		if said := gprof(t, 1, args...); !strings.Contains(said, "is a link of user 4711") {
			t.Errorf("%v: %s", args, said)
		}
	}
	if entries, err := os.ReadDir(victim); err != nil || len(entries) > 0 {
		t.Errorf("%v was made where the link leads; %v", entries, err)
	}
}
