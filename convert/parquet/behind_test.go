package parquet

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// All bytes come in order, whoever writes them, also after a flush.
func TestBehind(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, alone := range []bool{false, true} {
		var file, want bytes.Buffer
		b := &behind{file: &file, size: 64, alone: alone}
		for range 500 {
			p := make([]byte, r.IntN(200))
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			want.Write(p)
			if n, err := b.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			clear(p) // it is the caller's again
			if r.IntN(50) == 0 {
				if err := b.flush(); err != nil || file.Len() != want.Len() {
					t.Fatalf("%d bytes after a flush, want %d: %v", file.Len(), want.Len(), err)
				}
			}
		}
		if err := b.flush(); err != nil || !bytes.Equal(file.Bytes(), want.Bytes()) {
			t.Errorf("alone %v: %d bytes, want %d: %v", alone, file.Len(), want.Len(), err)
		}
	}
}

// full is a disk that is full after some bytes.
type full struct{ room int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// An error is returned by a later call, at last by flush.
func TestBehindFails(t *testing.T) {
	for _, alone := range []bool{false, true} {
		for _, room := range []int{0, 100, 190} {
			b := &behind{file: &full{room}, size: 64, alone: alone}
			_, err := b.Write(make([]byte, 192))
			if err == nil {
				err = b.flush()
			}
			if !errors.Is(err, errFull) {
				t.Errorf("alone %v, room for %d: %v", alone, room, err)
			}
		}
	}
}
