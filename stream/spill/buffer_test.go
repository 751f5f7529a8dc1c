package spill

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Buffers that grow at the same time stay apart, and can be used again after a Reset.
func TestBuffers(t *testing.T) {
	dir := t.TempDir()
	f := New(dir)
	buffers := []*Buffer{f.NewBuffer(), f.NewBuffer(), f.NewBuffer()}
	for round := range 3 {
		want := make([][]byte, len(buffers))
		for i := range 40_000 {
			for k, b := range buffers[:2] { // nothing in the last
				word := bytes.Repeat([]byte{byte(i), byte(k), byte(round)}, 1+i%5*k)
				want[k] = append(want[k], word...)
				if _, err := b.Write(word); err != nil {
					t.Fatal(err)
				}
			}
		}
		size := f.Size()
		for k, b := range buffers {
			var got []byte
			if err := b.Drain(func(block []byte) { got = append(got, block...) }); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want[k]) {
				t.Errorf("round %d, buffer %d: %d bytes, want %d others", round, k, len(got), len(want[k]))
			}
		}
		f.Reset()
		if size < bufferBytes+blockBytes || f.Size() != 0 {
			t.Errorf("the file has %d bytes, and %d after Reset", size, f.Size())
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The temporary file is made when there is more than fits into the buffers, so that a
// directory that does not exist matters only then.
func TestLittleNeedsNoFile(t *testing.T) {
	f := New(filepath.Join(t.TempDir(), "missing"))
	b := f.NewBuffer()
	if _, err := b.Write([]byte("little")); err != nil {
		t.Fatal(err)
	}
	if err := b.Drain(func(block []byte) {
		if string(block) != "little" {
			t.Errorf("%q", block)
		}
	}); err != nil || f.Close() != nil {
		t.Error(err)
	}
}

// An error of the file is returned at once, and by each call that follows.
func TestBufferError(t *testing.T) {
	f := New(filepath.Join(t.TempDir(), "missing"))
	b := f.NewBuffer()
	if _, err := b.Write(make([]byte, bufferBytes+1)); err == nil {
		t.Error("writing to a missing directory succeeds")
	}
	if err := b.Drain(func([]byte) { t.Error("got a block of a missing directory") }); err == nil {
		t.Error("reading from a missing directory succeeds")
	}
	if f.Err() == nil || f.Close() == nil {
		t.Error("the file did not keep its error")
	}
}
