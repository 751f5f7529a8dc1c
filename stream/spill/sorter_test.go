package spill

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

// Records come back in order, all of them, whether they fit into memory or not, and again after that.
func TestSorter(t *testing.T) {
	f := New(t.TempDir())
	defer f.Close()
	for _, memory := range []int{1, 1 << 10, 1 << 20} {
		s := NewSorter(f, 9, memory)
		for round := range 2 {
			random := rand.New(rand.NewPCG(uint64(memory), uint64(round)))
			count, sum := 300+round, uint64(0)
			for range count {
				n := random.Uint64() % 500
				sum += n
				if err := s.Add(append(binary.BigEndian.AppendUint64(nil, n), 'x')); err != nil {
					t.Fatal(err)
				}
			}
			var last []byte
			err := s.Each(func(r []byte) error {
				if bytes.Compare(last, r) > 0 || len(r) != 9 || r[8] != 'x' {
					t.Fatalf("%x after %x", r, last)
				}
				last = bytes.Clone(r)
				sum -= binary.BigEndian.Uint64(r)
				count--
				return nil
			})
			if err != nil || count != 0 || sum != 0 {
				t.Errorf("memory %d: %d records too few, %d their sum; %v", memory, count, sum, err)
			}
		}
	}
}

// The first error ends it.
func TestSorterError(t *testing.T) {
	s := NewSorter(New(t.TempDir()), 1, 10)
	s.Add([]byte{1})
	s.Add([]byte{2})
	want, calls := errors.New("enough"), 0
	if err := s.Each(func([]byte) error { calls++; return want }); err != want || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
