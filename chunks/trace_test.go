package chunks

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

func second(_ int, err error) error { return err }

// A window is complete, or it does not exist.
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
	if err != nil || w != (Trace{"trace-1234.out", 8}) || KindOf(w.Name) != TraceFile {
		t.Errorf("%v, %v", w, err)
	}
	must(t, errors.Join(RemoveTrace(folder.Dir(dir), w), RemoveTrace(folder.Dir(dir), w)))
	for _, name := range []string{"trace-.out", "trace-01.out", "trace-0001.out", "trace-+01.out", "trace-001", "trace-001.out.new", "trace--01.out"} {
		if KindOf(name) == TraceFile {
			t.Errorf("%s counts as a window", name)
		}
	}
}
