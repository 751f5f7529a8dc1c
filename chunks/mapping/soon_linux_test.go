package mapping

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// stored is how many bytes of a file have room on the disk.
func stored(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}

// A file whose space is reserved later has all its bytes at once, and what is written before stays.
func TestOfFileSoon(t *testing.T) {
	const size = 64 << 10
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	plentiful := freeBytes(f) >= plenty*size
	m, err := OfFileSoon(f, size)
	if err != nil {
		t.Fatal(err)
	}
	if n := stored(t, f.Name()); plentiful != (n < size) {
		t.Errorf("%d bytes are reserved; there is plenty of room: %v", n, plentiful)
	}
	copy(m.Bytes()[size-2:], "xy")
	if err := m.FaultIn(); err != nil {
		t.Fatal(err)
	}
	if n := stored(t, f.Name()); n < size {
		t.Errorf("%d bytes are reserved, want %d", n, size)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil || len(data) != size || string(data[size-2:]) != "xy" {
		t.Errorf("%v; file of %d bytes", err, len(data))
	}
	if err := f.Close(); err == nil {
		t.Error("the file was still open")
	}
}

// As long as space can't be reserved FaultIn says so, and Close closes the file that it would need.
func TestReservedInVain(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := OfFileSoon(f, 4096)
	if err != nil {
		t.Fatal(err)
	}
	if m.file == nil {
		t.Fatal("the disk is nearly full")
	}
	writable := m.file
	if m.file, err = os.Open(f.Name()); err != nil { // not for writing
		t.Fatal(err)
	}
	for range 2 {
		if err := m.FaultIn(); err == nil {
			t.Error("no error")
		}
	}
	m.file.Close()
	m.file = writable
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err == nil {
		t.Error("the file was still open")
	}
}
