package progress

import (
	"math"
	"testing"
)

func TestProportion(t *testing.T) {
	half, third := Percent(50), Ratio(1, 3)
	tests := []struct {
		name      string
		got, want Proportion
	}{
		{"0 %", Percent(0), 0},
		{"100 %", Percent(100), Whole},
		{"101 %", Percent(101), Whole},
		{"-1 %", Percent(-1), 0},
		{"a third", third, 0x2aaaaaaa},
		{"of nothing", Ratio(0, 0), Unknown},
		{"of less", Ratio(1, -1), Unknown},
		{"too much", Ratio(7, 5), Whole},
		{"large", Ratio(math.MaxInt64, math.MaxInt64), Whole},
		{"half of large", Ratio(math.MaxInt64/2+1, math.MaxInt64), half},
		{"sum", third.Plus(third), 0x55555554},
		{"sum of all", Whole.Plus(Whole), Whole},
		{"sum above", half.Plus(half + 1), Whole},
		{"difference", half.Minus(third), half - third},
		{"difference below", third.Minus(half), 0},
		{"product", half.Of(half), Percent(25)},
		{"product of all", Whole.Of(Whole), Whole},
		{"product is cut off", third.Of(third), 0x0e38e38d},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, uint32(tt.got), uint32(tt.want))
		}
	}
}

// All that is calculated with something unknown is Unknown.
func TestUnknownProportion(t *testing.T) {
	for _, u := range []Proportion{Unknown, Whole + 1} {
		for i, got := range []Proportion{
			u.Plus(0), Proportion(0).Plus(u), u.Minus(u), Whole.Minus(u), u.Of(0), Whole.Of(u),
		} {
			if got != Unknown {
				t.Errorf("%#x, operation %d: %#x", uint32(u), i, uint32(got))
			}
		}
		if u.Known() || !math.IsNaN(u.Float()) || u <= Whole {
			t.Errorf("%#x: known %v, %v, %v", uint32(u), u.Known(), u.Float(), u)
		}
	}
	if !Whole.Known() || Whole.Float() != 1 || Percent(25).Float() != 0.25 {
		t.Errorf("a quarter is %v of %v", Percent(25), Whole)
	}
}
