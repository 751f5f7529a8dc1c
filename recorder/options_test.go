package recorder

import (
	"fmt"
	"strings"
	"testing"
)

// What options ask for beyond the most is bounded, and told.
func TestBounds(t *testing.T) {
	p := Options{WaitHz: 20, SampleHz: 100_000}.with(&settings{Options: Options{WallHz: 5000, CounterHz: 11}})
	want := "CounterHz is 10, the most, not 11; SampleHz is 10000, the most, not 100000; WaitHz is 10, the most, not 20; WallHz is 1000, the most, not 5000"
	if got := strings.Join(p.bounded, "; "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := fmt.Sprint(p.CounterHz, p.SampleHz, p.WaitHz, p.WallHz); got != "10 10000 10 1000" {
		t.Error(got)
	}
	if p = (Options{WaitHz: 10, WallHz: -1, CounterHz: -1}).with(&settings{}); len(p.bounded) > 0 || p.CounterHz != -1 || p.WallHz != 0 {
		t.Errorf("%q, %d, %d", p.bounded, p.CounterHz, p.WallHz)
	}
}
