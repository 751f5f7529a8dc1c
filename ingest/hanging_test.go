package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gprof/fixtures"
	"gprof/ingest/watchdog"
	"gprof/stream"
)

// hanging is a file system in which opening some files hangs.
type hanging struct {
	fs.FS
	name  string // in the names of these; "": none
	never chan struct{}
}

func (h *hanging) Open(name string) (fs.File, error) {
	if h.name != "" && strings.Contains(name, h.name) {
		<-h.never
	}
	return h.FS.Open(name)
}

// A process whose files lie where one hangs is left out, or what of it can't be read, and the others are read.
func TestStorageThatHangs(t *testing.T) {
	for _, c := range []struct {
		hangsAtOnce, hangsLater string
		processes               int
		ledger                  string
	}{
		{"dict-", "", 1, " stalled inputs "},
		{"", "chunk-", 2, " unreadable places "},
	} {
		session, other := t.TempDir(), t.TempDir()
		record(t, session, fixtures.Options{Instance: 1})
		record(t, other, fixtures.Options{Instance: 2})
		synctest.Test(t, func(t *testing.T) {
			far := &hanging{os.DirFS(session), c.hangsAtOnce, make(chan struct{})}
			defer close(far.never)
			mount := func(in string) (fs.FS, string, error) {
				if in == "far" {
					return far, ".", nil
				}
				return nil, "", nil
			}
			start := time.Now()
			found, err := Find([]string{"far", other}, Options{Stall: time.Second, TempDir: t.TempDir(), Mount: mount})
			if err != nil {
				t.Fatal(err)
			}
			defer found.Close()
			if c.hangsAtOnce != "" && (len(found.Warnings) != 1 || !errors.Is(found.Warnings[0], watchdog.ErrStalled)) {
				t.Errorf("warnings %v", found.Warnings)
			}
			if c.hangsLater != "" {
				far.name = c.hangsLater
			}
			events, ledger := totals(t, found)
			if took := time.Since(start); events != 1 || len(found.Processes) != c.processes || !strings.Contains(ledger, c.ledger) || took > 2*time.Second {
				t.Errorf("%d events of %d processes after %v; ledger:\n%s", events, len(found.Processes), took, ledger)
			}
		})
	}
}

// together is a file system in which some directories open only when so many others are being opened.
type together struct {
	fs.FS
	waiting sync.WaitGroup
}

func (f *together) Open(name string) (fs.File, error) {
	if strings.Contains(name, "/") {
		return f.FS.Open(name)
	}
	if name != "." {
		f.waiting.Done()
		f.waiting.Wait()
	}
	return f.FS.Open(name)
}

// Directories are searched beside each other.
func TestDirectoriesTogether(t *testing.T) {
	const n = 3
	dir := t.TempDir()
	for i := range n {
		record(t, filepath.Join(dir, fmt.Sprint(i)), fixtures.Options{Instance: uint64(n - i)})
	}
	files := &together{FS: os.DirFS(dir)}
	files.waiting.Add(n)
	found, err := Find([]string{"far"}, Options{Stall: time.Minute, TempDir: t.TempDir(), Mount: func(string) (fs.FS, string, error) { return files, ".", nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	if len(found.Processes) != n || len(found.Warnings) > 0 {
		t.Errorf("%d processes, warnings %v", len(found.Processes), found.Warnings)
	}
}

// totals counts what a conversion would write, and lists the ledger.
func totals(t *testing.T, found *Found) (events int64, ledger string) {
	t.Helper()
	var sink stream.Count
	if err := stream.Copy(&sink, found.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, l := range sink.Tables.Ledger.Lines() {
		fmt.Fprintf(&b, "%s %s %s %s\n", l.Process, l.Reason.String(), l.What, l.Where)
	}
	return sink.Sum(func(stream.Series) bool { return true }).Rows, b.String()
}
