package spill

import (
	"bytes"
	"io"
	"os"
	"testing"
)

// A temporary file can't be seen, at the latest after it was closed.
func TestTempLeavesNothing(t *testing.T) {
	for name, make := range map[string]func(string) (*Temp, error){"create": create, "createNamed": createNamed} {
		dir := t.TempDir()
		f, err := make(dir)
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || f.name == "" && len(entries) != 0 {
			t.Errorf("%s leaves %v in the directory (%v)", name, entries, err)
		}
		if _, err := f.WriteAt([]byte("x"), 0); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%s leaves %v after Close (%v)", name, entries, err)
		}
	}
}

// Bytes are read back as they were written, through the buffer or past it.
func TestFile(t *testing.T) {
	f := New(t.TempDir())
	for round := range 2 {
		var want []byte
		for i, size := range []int{1, bufferBytes - 1, 2, 3 * bufferBytes, 0, 5, bufferBytes} {
			p := bytes.Repeat([]byte{byte(i + 10*round)}, size)
			want = append(want, p...)
			if n, err := f.Write(p); n != size || err != nil {
				t.Fatal(n, err)
			}
		}
		end := len(want) - 4
		copy(want[end:], "end")
		if _, err := f.WriteAt([]byte("end"), int64(end)); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d bytes, want %d (%v)", round, len(got), len(want), err)
		}
		f.Reset()
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
