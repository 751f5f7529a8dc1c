package runs

import (
	"errors"
	"slices"
	"testing"
)

func TestOverlap(t *testing.T) {
	span := func(first, last int64) Run { return Run{First: Key{Time: first}, Last: Key{Time: last}} }
	tests := []struct {
		runs []Run
		want int
	}{
		{nil, 0},
		{[]Run{span(1, 2)}, 1},
		{[]Run{span(3, 4), span(1, 2)}, 1},
		{[]Run{span(1, 2), span(2, 3)}, 2},
		{[]Run{span(1, 9), span(5, 6), span(2, 3)}, 2},
		{[]Run{span(1, 9), span(2, 6), span(3, 3), span(7, 8)}, 3},
	}
	for _, test := range tests {
		if got := Overlap(slices.Clone(test.runs)); got != test.want {
			t.Errorf("overlap of %v is %d, want %d", test.runs, got, test.want)
		}
	}
}

// blockOf is the i-th block of a run; some are larger than a buffer.
func blockOf(i, size int) []byte { return append(make([]byte, size), byte(i)) }

// Blocks of several runs come back in order, in whatever extents, spilled or not. Those of an unordered run all come back.
func TestRuns(t *testing.T) {
	for _, size := range []int{0, 100 << 10} {
		s := NewStore(t.TempDir())
		all := []Run{{}, {}, {Unordered: true}}
		for i := range 5 {
			for k := range all {
				s.Append(&all[k], blockOf(2*i, size))
				s.Append(&all[k], blockOf(2*i+1, 1))
				if i == 4 {
					continue // stays in memory
				}
				if err := s.Spill(&all[k]); err != nil {
					t.Fatal(err)
				}
			}
		}
		for k := range all {
			r := s.NewReader()
			r.Reset(&all[k], 1)
			var got []byte
			for range 10 {
				block, err := r.Next()
				if err != nil || block == nil {
					t.Fatalf("size %d: after %d blocks of run %d: %v, %v", size, len(got), k, block, err)
				}
				got = append(got, block[len(block)-1])
			}
			if all[k].Unordered {
				slices.Sort(got)
			}
			if want := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(got, want) {
				t.Errorf("size %d: the blocks of run %d are %v", size, k, got)
			}
			if block, err := r.Next(); block != nil || err != nil {
				t.Errorf("after the last block: %v, %v", block, err)
			}
		}
		s.Close()
	}
}

// A spill file that was cut or changed gives an error.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(*Store, *Run) error{
		"circle of an unordered run": func(s *Store, r *Run) error {
			r.Unordered, r.spilled.first = true, r.spilled.last
			_, err := s.file.WriteAt(appendLink(nil, r.spilled.last), r.spilled.last.end()-linkBytes)
			return err
		},
		"cut": func(s *Store, r *Run) error {
			r.spilled.first.size += 10
			return nil
		},
		"length": func(s *Store, r *Run) error {
			_, err := s.file.WriteAt([]byte{0xff, 0xff, 0xff, 0xff}, 0)
			return err
		},
		"circle": func(s *Store, r *Run) error {
			_, err := s.file.WriteAt(appendLink(nil, extent{0, 100}), r.spilled.first.end()-linkBytes)
			return err
		},
	} {
		s, r := NewStore(t.TempDir()), Run{}
		for range 2 {
			s.Append(&r, blockOf(1, 300<<10))
			if err := s.Spill(&r); err != nil {
				t.Fatal(err)
			}
		}
		if err := damage(s, &r); err != nil {
			t.Fatal(err)
		}
		reader, err := s.NewReader(), error(nil)
		reader.Reset(&r, 1)
		for range 4 {
			if _, err = reader.Next(); err != nil {
				break
			}
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want %v", name, err, ErrDamaged)
		}
		s.Close()
	}
}
