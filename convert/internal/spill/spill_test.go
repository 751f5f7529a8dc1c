package spill

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Rolls that grow at once come back each as it was, and again after a Rewind.
func TestRolls(t *testing.T) {
	dir := t.TempDir()
	f := New(dir)
	rolls := []*Buffer{f.NewBuffer(), f.NewBuffer(), f.NewBuffer()}
	for round := range 3 {
		want := make([][]byte, len(rolls))
		for i := range 40_000 {
			for k, r := range rolls[:2] { // nothing in the last
				word := bytes.Repeat([]byte{byte(i), byte(k), byte(round)}, 1+i%5*k)
				want[k] = append(want[k], word...)
				if _, err := r.Write(word); err != nil {
					t.Fatal(err)
				}
			}
		}
		size := f.size
		for k, r := range rolls {
			var got []byte
			if err := r.Drain(func(block []byte) { got = append(got, block...) }); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want[k]) {
				t.Errorf("round %d, roll %d: %d bytes, want %d others", round, k, len(got), len(want[k]))
			}
		}
		f.Rewind()
		if size < 2*blockSize || f.size != 0 {
			t.Errorf("the file has %d bytes, and %d after a rewind", size, f.size)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestLittleNeedsNoFile(t *testing.T) {
	f := New(filepath.Join(t.TempDir(), "missing"))
	r := f.NewBuffer()
	if _, err := r.Write([]byte("little")); err != nil {
		t.Fatal(err)
	}
	if err := r.Drain(func(block []byte) {
		if string(block) != "little" {
			t.Errorf("%q", block)
		}
	}); err != nil || f.Close() != nil {
		t.Error(err)
	}
}

// What can't be kept is an error at once and at every end.
func TestNoRoom(t *testing.T) {
	f := New(filepath.Join(t.TempDir(), "missing"))
	r := f.NewBuffer()
	if _, err := r.Write(make([]byte, blockSize)); err == nil {
		t.Error("written to a directory that is not there")
	}
	if err := r.Drain(func([]byte) { t.Error("came back all the same") }); err == nil {
		t.Error("read from a directory that is not there")
	}
	if f.Err() == nil || f.Close() == nil {
		t.Error("forgotten")
	}
}
