package attach

import (
	"os"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/recorder/internal/modules"
)

// Code that lies in no file, such as a just-in-time compiler's, is a module by the name
// that perf_event has for it.
func TestCodeWithoutFile(t *testing.T) {
	code, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(code)
	at := uint64(uintptr(unsafe.Pointer(&code[0])))
	b := builds{known: map[file]string{}}
	all := b.mapped(int32(os.Getpid()))
	i := slices.IndexFunc(all, func(m modules.Module) bool { return m.Start <= at && at < m.End })
	if i < 0 || all[i].Path != "//anon" {
		t.Errorf("the code at %x is not of //anon: %+v", at, all)
	}
}
