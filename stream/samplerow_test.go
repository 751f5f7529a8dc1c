package stream

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// Rows that are appended together are those that are appended one by one, in the columns too that have no values yet.
func TestAppendSampleRows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		got, want := Batch{Series: Series{Process: 1, Kind: Samples, Track: 1}}, Batch{Series: Series{Process: 1, Kind: Samples, Track: 1}}
		for range random.IntN(5) {
			rows, owned := make([]SampleRow, random.IntN(40)), random.IntN(8)
			for i := range rows {
				s := &rows[i]
				*s = SampleRow{Time: Time(random.Int64()), Index: random.Uint64(), Weight: random.Int64(), CPU: random.Int64(), Stack: StackID(random.Int32())}
				if random.IntN(3) == 0 {
					s.Thread, s.Goroutine, s.Labels = int64(owned&1), int64(owned&2), LabelsID(owned&4)
				}
				want.Time, want.Index, want.Stack = append(want.Time, s.Time), append(want.Index, s.Index), append(want.Stack, s.Stack)
				want.Weight, want.CPU = append(want.Weight, s.Weight), append(want.CPU, s.CPU)
				want.AppendOwner(Owner{Thread: s.Thread, Goroutine: s.Goroutine, Labels: s.Labels})
			}
			got.AppendSampleRows(rows)
			if random.IntN(6) == 0 && got.Len() > 0 {
				got.SetSpan(0, Span{ID: 1})
				want.SetSpan(0, Span{ID: 1})
			}
		}
		if err := got.Check(); err != nil {
			t.Fatal(err)
		}
		for i := range got.Len() {
			if got.Owner(i) != want.Owner(i) {
				t.Fatalf("the owner of row %d is %v, want %v", i, got.Owner(i), want.Owner(i))
			}
		}
		if len(got.Thread) != len(want.Thread) || len(got.Goroutine) != len(want.Goroutine) || len(got.Labels) != len(want.Labels) {
			t.Fatal("a column without values is there, or one with values is not")
		}
		got.Thread, got.Goroutine, got.Labels = want.Thread, want.Goroutine, want.Labels
		if got.Len() > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
