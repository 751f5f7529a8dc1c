package counters

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Files of this process are counted as they are opened and closed, and the limit is the process' own.
func TestOpenFiles(t *testing.T) {
	k := &kernel{root: "/"}
	defer k.close()
	g, err := k.openFiles()
	if err != nil {
		t.Fatal(err)
	}
	files := func() int64 {
		v := make([]Reading, 2)
		if g.read(v); !v[0].Known || v[1].Known && v[1].Value < v[0].Value {
			t.Fatalf("%+v", v)
		}
		return v[0].Value
	}
	before := files()
	for range 50 {
		f, err := os.Open("/dev/null")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	if after := files(); after-before < 40 || after-before > 60 { // other tests open and close some
		t.Errorf("%d open files, %d before 50 were opened", after, before)
	}
}

// A directory is listed in parts, and counted when all have been; what comes and goes is seen in the next round.
func TestListing(t *testing.T) {
	root := t.TempDir()
	dir, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	l := listing{dir: dir}
	for _, files := range []int64{0, 1, 3000} {
		for i := range files {
			write(t, root, fmt.Sprint("file ", i), "")
		}
		calls := 0
		for n, known := l.count(); !known || n != files; n, known = l.count() {
			if calls++; calls > 100 {
				t.Fatalf("%d files, want %d", n, files)
			}
		}
		if (files > 1000) != (calls > 1) {
			t.Errorf("%d files took %d calls", files, 1+calls)
		}
	}
	if n := testing.AllocsPerRun(10, func() { l.count() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The waits of all threads add up, also of one that has ended since, and of a number that is used again.
func TestQueue(t *testing.T) {
	root := t.TempDir()
	write(t, root, "proc/self/schedstat", "1 1 1\n")
	at := func(tid, text string) { write(t, root, "proc/self/task/"+tid+"/schedstat", text) }
	at("7", "100 250 3\n")
	at("8", "100 50 3\n")
	s := &systemMetrics{threads: map[int]bool{7: true, 8: true}}
	s.kernel.root = root
	defer s.close()
	g, err := s.openQueue()
	if err != nil {
		t.Fatal(err)
	}
	want := func(ns int64) {
		t.Helper()
		v := make([]Reading, 1)
		if g.read(v); v[0] != (Reading{Value: ns, Known: true}) {
			t.Errorf("%+v, want %d ns", v[0], ns)
		}
	}
	want(300)
	at("7", "100 260 3\n")
	want(310)
	if err := os.RemoveAll(filepath.Join(root, "proc/self/task/8")); err != nil {
		t.Fatal(err)
	}
	want(310)
	at("7", "nonsense\n")
	want(310)
	at("7", "100 5 3\n")
	want(310)
}

// A thread of this process has waited for a processor at some time.
func TestOwnQueue(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &systemMetrics{threads: map[int]bool{unix.Gettid(): true}}
	s.kernel.root = "/"
	defer s.close()
	g, err := s.openQueue()
	if err != nil {
		if _, missing := os.Stat("/proc/self/schedstat"); missing == nil {
			t.Error(err)
		}
		return // a kernel without statistics of its scheduler
	}
	v := make([]Reading, 1)
	if g.read(v); !v[0].Known || v[0].Value <= 0 {
		t.Errorf("%+v", v[0])
	}
	if n := testing.AllocsPerRun(100, func() { g.read(v) }); n > 0 {
		t.Errorf("a read makes %v allocations", n)
	}
}
