package chunks

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

// Of a dead process those windows go that are older than the chunks that are left;
// what was being written when it was killed goes first of all.
func TestRemainsTraces(t *testing.T) {
	session, h := t.TempDir(), newHandClock()
	m := startTestMember(t, session, ControlOptions{Limit: 1 << 20}, h.now)
	ticks(t, h, 10, 80, m)
	m.die(t)
	r, err := openRemains(m.dir)
	must(t, err)
	must(t, r.conclude(session, rawformat.Slot{}))
	for i, done := range []int64{r.chunks[0].done, r.chunks[1].done, r.chunks[3].done} {
		_, err := WriteTrace(folder.Dir(m.dir), i, 100, func(w io.Writer) error { return second(fmt.Fprint(w, "a window")) })
		must(t, err)
		at := time.Unix(0, done-1)
		must(t, os.Chtimes(filepath.Join(m.dir, TraceName(i)), at, at))
	}
	must(t, os.WriteFile(filepath.Join(m.dir, TraceName(3)+newSuffix), []byte("half"), 0o600))
	must(t, os.WriteFile(filepath.Join(m.dir, "trace-1.out"), []byte("none of ours"), 0o600))
	r, err = openRemains(m.dir)
	must(t, err)
	must(t, errors.Join(r.sweep(), r.discard(r.chunks[1].done, 0)))
	p, err := OpenProcess(os.DirFS(session), filepath.Base(m.dir))
	must(t, err)
	if want := []Trace{{TraceName(2), 8}}; !slices.Equal(p.Traces, want) {
		t.Errorf("windows %v, want %v", p.Traces, want)
	}
	if r.held != sessionBytes(m.dir) {
		t.Errorf("holds %d bytes, want %d", r.held, sessionBytes(m.dir))
	}
	must(t, erase(m.dir))
	if left, err := os.ReadDir(m.dir); err != nil || len(left) != 1 || left[0].Name() != "trace-1.out" {
		t.Errorf("left: %v, %v", left, err)
	}
}

func second(_ int, err error) error { return err }

// A window is whole, or it is not there.
func TestWriteTrace(t *testing.T) {
	dir := t.TempDir()
	if _, err := WriteTrace(folder.Dir(dir), 1234, 7, func(w io.Writer) error { return second(fmt.Fprint(w, "a window")) }); !errors.Is(err, rawformat.ErrTooBig) {
		t.Errorf("too large: %v", err)
	}
	broken := errors.New("broken")
	if _, err := WriteTrace(folder.Dir(dir), 1234, 7, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("its writer's error: %v", err)
	}
	if n := countFiles(t, dir); n != 0 {
		t.Errorf("%d files left behind", n)
	}
	w, err := WriteTrace(folder.Dir(dir), 1234, 8, func(w io.Writer) error { return second(fmt.Fprint(w, "a window")) })
	if err != nil || w != (Trace{"trace-1234.out", 8}) || kindOf(w.Name) != TraceFile {
		t.Errorf("%v, %v", w, err)
	}
	must(t, errors.Join(RemoveTrace(folder.Dir(dir), w), RemoveTrace(folder.Dir(dir), w)))
	for _, name := range []string{"trace-.out", "trace-01.out", "trace-0001.out", "trace-+01.out", "trace-001", "trace-001.out.new", "trace--01.out"} {
		if kindOf(name) == TraceFile {
			t.Errorf("%s counts as a window", name)
		}
	}
}
