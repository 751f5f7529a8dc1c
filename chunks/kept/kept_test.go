package kept_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gprof/chunks/kept"
)

// keep keeps a file of so many bytes by the rule of that name, in the second n.
func keep(t *testing.T, session string, n int, rule string, size int, most int64) (f kept.File, err error) {
	t.Helper()
	f = kept.File{Time: time.Unix(int64(n), 7).UTC(), Instance: 0xabc, Rule: kept.RuleOf(rule)}
	err = kept.Keep(session, &f, most, func(w io.Writer) error {
		_, err := w.Write(bytes.Repeat([]byte("x"), size))
		return err
	})
	return f, err
}

// seconds are the times of what a session keeps.
func seconds(t *testing.T, session string) (all []int64) {
	t.Helper()
	files, err := kept.List(session)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		all = append(all, f.Time.Unix())
	}
	return all
}

// Older files make room, first those of the rule that has most of them.
func TestRoom(t *testing.T) {
	session := t.TempDir()
	const most = 450 << 10
	for n, rule := range []string{"rare", "often", "often", "rare", "often", "often"} {
		if _, err := keep(t, session, n, rule, 80<<10, most); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(seconds(t, session)); got != "[0 2 3 4 5]" {
		t.Errorf("by bytes: %s", got)
	}
	for n := range 40 {
		if _, err := keep(t, session, 10+n, "always", 1, most); err != nil {
			t.Fatal(err)
		}
	}
	all := seconds(t, session)
	if len(all) != kept.MaxFiles || all[0] != 0 || all[len(all)-1] != 49 {
		t.Errorf("by number: %v", all)
	}
	if err := os.Remove(filepath.Join(session, kept.DirName, (&kept.File{Time: time.Unix(49, 7), Instance: 0xabc, Rule: kept.RuleOf("always")}).Name())); err != nil {
		t.Fatal(err)
	}
	if n, err := kept.Displaced(session); n != 46-kept.MaxFiles || err != nil {
		t.Errorf("%d made room, %v", n, err)
	}
	info, err := os.Stat(filepath.Join(session, kept.DirName))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v, %v", info, err)
	}
}

// A file that is not whole has no name, and takes no room from others.
func TestFailures(t *testing.T) {
	session := t.TempDir()
	for n := range 3 {
		if _, err := keep(t, session, n, "a", 30<<10, 100<<10); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := keep(t, session, 3, "a", 51<<10, 100<<10); !errors.Is(err, kept.ErrTooBig) {
		t.Errorf("more than half: %v", err)
	}
	full := errors.New("the disk is full")
	f := kept.File{Time: time.Unix(4, 0), Instance: 0xabc}
	if err := kept.Keep(session, &f, 100<<10, func(w io.Writer) error { io.WriteString(w, "some"); return full }); !errors.Is(err, full) {
		t.Errorf("on a full disk: %v", err)
	}
	dir := filepath.Join(session, kept.DirName)
	// A process that is dead was writing this one.
	half := filepath.Join(dir, (&kept.File{Time: time.Unix(1, 0), Instance: 0xdead}).Name()+".new")
	for _, name := range []string{half, filepath.Join(dir, "notes.txt")} {
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(seconds(t, session)); got != "[0 1 2]" {
		t.Errorf("left: %s", got)
	}
	if _, err := keep(t, session, 5, "a", 1, 100<<10); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a dead process began: %v", err)
	}
}

// Zeros are not written, and read back.
func TestSparse(t *testing.T) {
	session := t.TempDir()
	want := make([]byte, 300<<10)
	copy(want[100_000:], "something")
	f := kept.File{Time: time.Unix(1, 0), Instance: 1}
	if err := kept.Keep(session, &f, 64<<10, func(w io.Writer) error { _, err := w.Write(want); return err }); err != nil {
		t.Fatal(err)
	}
	in, err := kept.Open(session, f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestNames(t *testing.T) {
	f := kept.File{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Instance: 0x10, Rule: 0xff}
	if f.Name() != "20260102T030405.000000006Z-0000000000000010-000000ff.gprof" {
		t.Error(f.Name())
	}
	if got, ok := kept.Parse(f.Name()); !ok || got != f {
		t.Errorf("%+v, %v", got, ok)
	}
	session := t.TempDir()
	for _, name := range []string{"", ".gprof", "a-b-c.gprof", "../../etc/passwd", "20260102T030405.000000006Z-0000000000000010-000000FF.gprof",
		"20260102T030405.000000006Z-10-000000ff.gprof", "20260102T030405.000000006Z-0000000000000010-000000ff.gprof.new", "20261302T030405.000000006Z-0000000000000010-000000ff.gprof"} {
		if f, ok := kept.Parse(name); ok {
			t.Errorf("%q is %+v", name, f)
		}
		if _, err := kept.Open(session, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
