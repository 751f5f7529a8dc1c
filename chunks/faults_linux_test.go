//go:build (amd64 || arm64) && !gprof_portable

package chunks

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

var pageSize = os.Getpagesize()

func catchFaults(t *testing.T) {
	t.Helper()
	if err := CatchFaults(); err != nil {
		t.Fatal(err)
	}
}

// Somebody cuts chunk files short, while they are written. What was before the cut
// stays in the files, and the ring goes on with others.
func TestChunksCut(t *testing.T) {
	catchFaults(t)
	dir := t.TempDir()
	r, err := OpenRing(Dir(dir), testOptions(6))
	if err != nil {
		t.Fatal(err)
	}
	w := &ringWriter{r: r, id: 1}
	for i := range 20000 {
		if i%500 == 250 {
			cut(t, dir, int64(i%7)*4096)
		}
		w.log("what is written while files are cut short")
		if i%100 == 0 {
			r.Maintain() // it may complain of files that are too short
		}
	}
	before := Faults()
	for range 20 { // nobody cuts any more: all chunks that were cut go
		for range 400 {
			w.log("what is written afterwards")
		}
		w.close()
		r.Maintain()
	}
	for _, c := range r.chunks {
		if c.LostBytes() > 0 {
			t.Errorf("%s is still in use", c.ring.name)
		}
	}
	if before == 0 {
		t.Error("no fault")
	}
	last := w.put[len(w.put)-1]
	w.close()
	r.Close()
	p, err := OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	blocks, _ := readAllBlocks(t, p)
	if n := len(blocks); n == 0 || blocks[n-1] != last {
		t.Errorf("%d blocks, the last one not %+v", n, last)
	}
}

// cut cuts all chunk files of a directory short.
func cut(t *testing.T, dir string, size int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "chunk-*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
	}
}

// Threads that touch one page at a time see each other's stores.
func TestFaultOnce(t *testing.T) {
	catchFaults(t)
	for range 50 {
		mem, f := mappedFile(t, 2*pageSize)
		guard, err := protect(mem)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(0); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		begin := make(chan struct{})
		for i := range 8 {
			all.Go(func() {
				<-begin
				mem[i*8]++
			})
		}
		close(begin)
		all.Wait()
		for i := range 8 {
			if mem[i*8] != 1 {
				t.Fatalf("byte %d is %d", i*8, mem[i*8])
			}
		}
		if guard.lost() != pageSize {
			t.Fatalf("%d bytes replaced", guard.lost())
		}
		if err := unmapProtected(mem, guard); err != nil {
			t.Fatal(err)
		}
	}
}

// A fault in a mapping that is not ours is the program's, as ever: before ours is
// mapped, while it is, and at its place afterwards.
func TestFaultOfOthers(t *testing.T) {
	catchFaults(t)
	ours, _ := mappedFile(t, pageSize)
	guard, err := protect(ours)
	if err != nil {
		t.Fatal(err)
	}
	other, f := mappedFile(t, pageSize)
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	wantFault(t, other)
	guard.expose()
	if err := RemapFile(f, ours); err != nil {
		t.Fatal(err)
	}
	wantFault(t, ours)
}

func wantFault(t *testing.T, mem []byte) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p, ok := recover().(runtime.Error); !ok { // an emulator may not tell Go the address
			t.Errorf("got %v, want a fault", p)
		}
	}()
	mem[0]++
}

func mappedFile(t *testing.T, size int) ([]byte, *os.File) {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "test")
	t.Cleanup(func() { f.Close() })
	if err := f.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	mem, err := MapFile(f, size)
	if err != nil {
		t.Fatal(err)
	}
	return mem, f
}
