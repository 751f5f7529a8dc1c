package ring

import (
	"io/fs"
	"syscall"
	"testing"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

// Open reserves space for some chunks, and the first Maintain for the others.
func TestReservedLater(t *testing.T) {
	d := folder.Dir(t.TempDir())
	o := testOptions(8)
	o.MinSpare, o.AtFirst, o.Reserved = 4, 4, 2
	r, err := Open(d, o)
	if err != nil {
		t.Fatal(err)
	}
	reserved := func() (n int) {
		for _, c := range r.chunks {
			info, err := fs.Stat(d, c.ring.name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Sys().(*syscall.Stat_t).Blocks*512 >= testFile {
				n++
			}
		}
		return n
	}
	if n := reserved(); n != 2 && n != 4 { // all, if the disk is nearly full
		t.Errorf("%d of 4 chunks have their space reserved, want 2", n)
	}
	for range 4 {
		if r.Get(1, 1) == nil {
			t.Error("fewer than 4 chunks can be written")
		}
	}
	if err := r.Maintain(); err != nil {
		t.Fatal(err)
	}
	if n := reserved(); n != len(r.chunks) || n < 4 {
		t.Errorf("%d of %d chunks have their space reserved after Maintain", n, len(r.chunks))
	}
	for _, c := range r.chunks {
		if c.State() == rawformat.StateInUse {
			r.Release(c)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
