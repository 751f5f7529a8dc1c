package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"gprof/chunks"
	"gprof/chunks/session"
	"gprof/rawformat"
)

func TestWriteExit(t *testing.T) {
	root := t.TempDir()
	m := startTestMember(t, root, session.Options{Limit: 1 << 20}, realClock)
	must(t, m.writeMeta(rawformat.MetaParent, "00000000000000cd"))
	must(t, errors.Join(m.write(300), m.tick()))
	pid := uint32(os.Getpid())
	if err := session.WriteExit(m.dir, session.End{Pid: pid}); err != nil || exitIn(t, m.dir) != nil {
		t.Errorf("%v, exit %+v of a process that lives", err, exitIn(t, m.dir))
	}
	m.die(t)
	if err := session.WriteExit(m.dir, session.End{Pid: pid + 1}); err != nil || exitIn(t, m.dir) != nil {
		t.Errorf("%v, exit %+v of another process", err, exitIn(t, m.dir))
	}
	p, err := chunks.OpenProcess(os.DirFS(root), filepath.Base(m.dir))
	must(t, err)
	must(t, session.WriteExit(m.dir, session.End{Pid: pid, Code: -1, Signal: 9}))
	got, last := exitIn(t, m.dir), p.Chunks[len(p.Chunks)-1]
	want := &chunks.Exit{Monotonic: got.Monotonic, Realtime: got.Realtime, Reason: rawformat.ExitSignal, Code: 9, Parent: 0xcd,
		RangeStart: p.Held, RangeEnd: last.End(), Discarded: uint64(last.Header.Discarded)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if err := session.WriteExit(m.dir, session.End{Pid: pid, Code: 3}); err != nil || exitIn(t, m.dir).Code != 9 {
		t.Errorf("%v, exit %+v, want the first kept", err, exitIn(t, m.dir))
	}
	if err := session.WriteExit(t.TempDir(), session.End{Pid: 1}); !errors.Is(err, chunks.ErrNoRecording) {
		t.Errorf("%v, want %v", err, chunks.ErrNoRecording)
	}
}
