package stream

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Rows of writers that alternate, for whatever time each, come out sorted: also those of the
// same time, and at both ends of all time.
func TestBraid(t *testing.T) {
	times := map[string]func(at Time, i int) Time{
		"each its own": func(at Time, _ int) Time { return at },
		"coarse":       func(_ Time, i int) Time { return Time(i / 40) },
		"all the same": func(Time, int) Time { return 5 },
		"far apart": func(_ Time, i int) Time {
			return []Time{math.MinInt64, -1000, 1000, math.MaxInt64 / 2, math.MaxInt64}[i/500] + Time(i%500)*[]Time{1, 1, 1, 1, 0}[i/500]
		},
	}
	for _, like := range []*Batch{sampleRows(7, 2500), ownedRows(7, 2500), spannedRows(7, 2500), markerRows(7, 2500)} {
		for name, at := range times {
			want := &Batch{}
			want.Reset(like.Series, len(like.Args))
			want.AppendRows(like, 0, like.Len())
			for i := range want.Time {
				want.Time[i] = at(want.Time[i], i)
			}
			for _, writers := range []int{2, 3, maxStrands, maxStrands + 1} {
				for _, turn := range []int{1, 3, longStretch, 200} {
					t.Run(fmt.Sprintf("%v/%s/writers=%d/turn=%d", want.Series.Kind, name, writers, turn), func(t *testing.T) {
						braided(t, want, writers, turn)
					})
				}
			}
		}
	}
}

// In a segment there is nothing left of the one before, even if few rows have an owner.
func TestBraidOfSegments(t *testing.T) {
	braided(t, spannedRows(9, 4*maxSegment), 3, 1)
	braided(t, spannedRows(9, 4*maxSegment), 50, longStretch)
}

// spannedRows is sampleRows of which a few have an owner.
func spannedRows(seed uint64, n int) *Batch {
	b := sampleRows(seed, n)
	b.Thread, b.Goroutine, b.Labels, b.Span = make([]int64, n), make([]int64, n), make([]LabelsID, n), make([]Span, n)
	for i := n / 3; i < n; i += n / 3 {
		b.Thread[i-2], b.Goroutine[i], b.Labels[i-1], b.Span[i-1] = int64(i), int64(i), LabelsID(i), Span{ID: uint64(i)}
	}
	return b
}

// braided gives a sorter rows as so many writers have them that take turns, after so many rows
// on average.
func braided(t *testing.T, want *Batch, writers, turn int) {
	s := newSorter(1<<30, t.TempDir())
	defer s.Close()
	parts := make([]*Batch, writers)
	for i := range parts {
		parts[i] = like(want)
	}
	r := rand.New(rand.NewPCG(uint64(writers), uint64(turn)))
	for i, w := 0, 0; i < want.Len(); i++ {
		if r.IntN(turn) == 0 {
			w = r.IntN(writers)
		}
		parts[w].AppendRows(want, i, i+1)
	}
	for _, part := range parts {
		part.DropZeros()
		if err := s.Add(part); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := collectRows(t, s, len(want.Args)); !sameRows(got, want) {
		t.Errorf("%d rows are not those that came, sorted", got.Len())
	}
}

// Keys that are not unique are a fault of the source, of which no row is lost.
func TestBraidOfEqualKeys(t *testing.T) {
	s := newSorter(1<<30, t.TempDir())
	defer s.Close()
	all, copies := sampleRows(8, 1300), like(sampleRows(8, 1))
	for range 5 {
		copies.Reset(all.Series, 0)
		copies.AppendRows(all, 0, all.Len())
		if err := s.Add(copies); err != nil {
			t.Fatal(err)
		}
	}
	got, _ := collectRows(t, s, 0)
	if got.Len() != 5*all.Len() {
		t.Fatalf("%d rows, want five times %d", got.Len(), all.Len())
	}
	for i := range got.Time {
		if got.key(i) != all.key(i/5) || got.Stack[i] != all.Stack[i/5] {
			t.Fatalf("row %d is not the one that came", i)
		}
	}
}
