package viewer

import (
	"math"
	"math/rand/v2"
	"testing"

	"gprof/stream"
)

// The sum of what is written is the counter's value at each moment, also where differences have no place in an int64.
func TestChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	extremes := []int64{0, 1, -1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1, 1_795_981_871_941}
	for range 1000 {
		var rows stream.Batch
		for i := range 1 + random.IntN(9) {
			rows.Time = append(rows.Time, stream.Time(i))
			rows.Value = append(rows.Value, extremes[random.IntN(len(extremes))])
			rows.Number = append(rows.Number, extremes[random.IntN(len(extremes))])
		}
		var changes Changes
		var value, number int64
		levels := map[stream.Time][2]int64{}
		write := func(c Change) {
			if c.Count == math.MinInt64 || c.Number == math.MinInt64 {
				t.Errorf("%v: %+v is no value for a viewer", rows.Value, c)
			}
			if wraps(value, c.Count) || wraps(number, c.Number) {
				t.Errorf("%v: %d, %d and %+v", rows.Value, value, number, c)
			}
			value, number = value+c.Count, number+c.Number
			levels[c.At] = [2]int64{value, number}
		}
		changes.Rows(&rows, write)
		changes.End(write)
		for at, level := range levels {
			if want := [2]int64{rows.Value[at], rows.Number[at]}; level != want {
				t.Errorf("%v: %v at %d, want %v", rows.Value, level, at, want)
			}
		}
		if last := rows.Len() - 1; value != rows.Value[last] || number != rows.Number[last] {
			t.Errorf("%v: %d and %d at the end", rows.Value, value, number)
		}
	}
}

// wraps reports whether a sum has no place in an int64.
func wraps(a, b int64) bool { return (a+b > a) != (b > 0) }
