package chunks

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"gprof/rawformat"
)

// instanceDir is a directory with the files of a process.
func instanceDir(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "00000000000000ab")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func instanceIn(t *testing.T, dir string) *Process {
	t.Helper()
	p, err := OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWriteExit(t *testing.T) {
	files, images := four()
	files["meta"] = testRecords(rawformat.MagicMeta, 0, metaBody(rawformat.MetaParent, "00000000000000cd"))
	dir := instanceDir(t, files)
	p := instanceIn(t, dir)
	if err := WriteExit(dir, End{Pid: p.Pid + 1}); err != nil || instanceIn(t, dir).Exit != nil {
		t.Errorf("%v, exit %+v of another process", err, instanceIn(t, dir).Exit)
	}
	lock, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteExit(dir, End{Pid: p.Pid}); err != nil || instanceIn(t, dir).Exit != nil {
		t.Errorf("%v, exit %+v of a process that lives", err, instanceIn(t, dir).Exit)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := WriteExit(dir, End{Pid: p.Pid, Code: -1, Signal: 9}); err != nil {
		t.Fatal(err)
	}
	got := instanceIn(t, dir).Exit
	want := &Exit{Monotonic: got.Monotonic, Realtime: got.Realtime, Reason: rawformat.ExitSignal, Code: 9, Parent: 0xcd,
		RangeStart: p.Held, RangeEnd: 1 + uint64(len(images))*smallCapacity, Discarded: uint64(p.Chunks[3].Header.Discarded)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if err := WriteExit(dir, End{Pid: p.Pid, Code: 3}); err != nil || instanceIn(t, dir).Exit.Code != 9 {
		t.Errorf("%v, exit %+v, want the first kept", err, instanceIn(t, dir).Exit)
	}
	if err := WriteExit(instanceDir(t, nil), End{Pid: 1}); !errors.Is(err, ErrNoRecording) {
		t.Errorf("%v, want %v", err, ErrNoRecording)
	}
}
