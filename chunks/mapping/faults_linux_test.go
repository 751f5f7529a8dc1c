//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package mapping

import (
	"os"
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
