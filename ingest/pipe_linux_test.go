package ingest

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gprof/fixtures"
	"gprof/ingest/watchdog"
)

// tarOf is a tar of a directory, as tar makes it.
func tarOf(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A pipe that hangs in the middle of its archive gives what came, and holds
// nothing else up. One that nobody ever writes gives nothing.
func TestPipeThatHangs(t *testing.T) {
	session, other := t.TempDir(), t.TempDir()
	record(t, session, fixtures.Options{Instance: 1})
	record(t, session, fixtures.Options{Instance: 2})
	record(t, other, fixtures.Options{Instance: 3})
	data := tarOf(t, session)
	hangs, never := fifo(t), fifo(t)
	opened := make(chan *os.File, 1) // and held: a file that nobody refers to is closed
	go func() {
		f, err := os.OpenFile(hangs, os.O_WRONLY, 0)
		if err == nil {
			f.Write(data[:len(data)*2/3]) // and never ends
		}
		opened <- f
	}()
	defer func() { (<-opened).Close() }()
	found, err := Find([]string{hangs, other, never}, Options{Stall: 3 * time.Second, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	if len(found.Warnings) != 2 || found.Failed() != 2 || !errors.Is(found.Warnings[0], watchdog.ErrStalled) || !errors.Is(found.Warnings[1], watchdog.ErrStalled) {
		t.Errorf("warnings %v", found.Warnings)
	}
	events, ledger := totals(t, found)
	if events != 3 || len(found.Processes) != 3 || strings.Count(ledger, " stalled inputs pipe\n") != 1 {
		t.Errorf("%d events of %d processes; ledger:\n%s", events, len(found.Processes), ledger)
	}
}

// A pipe that trickles, slower than others but always within a tick, is read
// whole.
func TestPipeThatTrickles(t *testing.T) {
	session := t.TempDir()
	record(t, session, fixtures.Options{Instance: 1})
	data := tarOf(t, session)
	const tick = time.Second
	for deadline := time.Now().Add(time.Minute); ; {
		name := fifo(t)
		longest := make(chan time.Duration, 1)
		go func() { longest <- trickle(name, data, tick/5) }()
		start := time.Now()
		found, err := Find([]string{name}, Options{Stall: tick, TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		took, late := time.Since(start), <-longest > tick/2
		if late && time.Now().Before(deadline) {
			continue // a busy machine does not keep the pace that is tested
		}
		if took < 2*tick {
			t.Errorf("it took %v only: the test does not test what it should", took)
		}
		if events, ledger := totals(t, found); events != 1 || ledger != "" || len(found.Warnings) != 0 {
			t.Errorf("%d events, warnings %v, ledger:\n%s", events, found.Warnings, ledger)
		}
		return
	}
}

// trickle writes data in small parts, with pauses, and returns the longest time that
// one took.
func trickle(name string, data []byte, pause time.Duration) (longest time.Duration) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	begun := time.Now()
	for part := len(data)/11 + 1; len(data) > 0; data = data[min(part, len(data)):] {
		time.Sleep(pause)
		f.Write(data[:min(part, len(data))])
		longest, begun = max(longest, time.Since(begun)), time.Now()
	}
	return longest
}

// One pipe given twice is read once, and the ledger says so.
func TestPipeTwice(t *testing.T) {
	session := t.TempDir()
	record(t, session, fixtures.Options{Instance: 1})
	name, data := fifo(t), tarOf(t, session)
	go func() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err == nil {
			f.Write(data)
			f.Close()
		}
	}()
	found, err := Find([]string{name, name}, Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	if events, ledger := totals(t, found); events != 1 || ledger != " duplicate inputs pipe\n" {
		t.Errorf("%d events, ledger:\n%s", events, ledger)
	}
}

// The temporary file goes with Close, and has no name before.
func TestSpoolGoes(t *testing.T) {
	session, temp := t.TempDir(), t.TempDir()
	record(t, session, fixtures.Options{Instance: 1})
	found, err := Find([]string{"-"}, Options{Stdin: bytes.NewReader(tarOf(t, session)), TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v lie in the directory for temporary files, %v", left, err)
	}
	if events, _ := totals(t, found); events != 1 {
		t.Errorf("%d events", events)
	}
	if err := found.Close(); err != nil {
		t.Error(err)
	}
}

// A file that cannot be read any more when its turn comes costs itself: the rest is
// converted and verified, and the ledger names it.
func TestFileGoneWhenRead(t *testing.T) {
	session := t.TempDir()
	record(t, session, fixtures.Options{Instance: 1})
	record(t, session, fixtures.Options{Instance: 2})
	found, err := Find([]string{session}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	chunk := filepath.Join(session, "0000000000000001", "chunk-00000")
	if err := errors.Join(os.Remove(chunk), syscall.Mkfifo(chunk, 0o600)); err != nil {
		t.Fatal(err)
	}
	if v := found.Verify(); len(v) != 2 || !v[0].Damaged || v[1].Damaged {
		t.Errorf("verdicts %+v", v)
	}
	events, ledger := totals(t, found)
	if events != 1 || !strings.HasPrefix(ledger, "0000000000000001 unreadable places chunk-00000: ") || strings.Contains(ledger, session) {
		t.Errorf("%d events; ledger:\n%s", events, ledger)
	}
}
