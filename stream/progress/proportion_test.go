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
		{"of 0", ProportionOf(0), 0},
		{"of 1", ProportionOf(1), 0x80000000},
		{"of a half", ProportionOf(0.5), 0x40000000},
		{"is cut off", ProportionOf(1.0 / 3), 0x2aaaaaaa},
		{"below", ProportionOf(-1), 0},
		{"above", ProportionOf(1.5), Whole},
		{"infinite", ProportionOf(math.Inf(1)), Whole},
		{"NaN", ProportionOf(math.NaN()), Unknown},
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
		{"quotient", Whole.Over(2), half},
		{"quotient is cut off", Proportion(7).Over(2), 3},
		{"by zero", half.Over(0), Unknown},
		{"zero by zero", Proportion(0).Over(0), Unknown},
		{"twice", third.Times(2), 0x55555554},
		{"three times", half.Times(3), Whole},
		{"often", third.Times(math.MaxUint32), Whole},
		{"no time", half.Times(0), 0},
		{"nothing often", Proportion(0).Times(5), 0},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, uint32(tt.got), uint32(tt.want))
		}
	}
}

// What is calculated with something unknown is unknown, and written in one way.
func TestUnknownProportion(t *testing.T) {
	for _, u := range []Proportion{Unknown, Whole + 1} {
		for i, got := range []Proportion{
			u.Plus(0), Proportion(0).Plus(u), u.Minus(u), Whole.Minus(u), u.Of(0), Whole.Of(u), u.Over(1), u.Over(0), u.Times(0), u.Times(2),
		} {
			if got != Unknown {
				t.Errorf("%#x, operation %d: %#x", uint32(u), i, uint32(got))
			}
		}
		if u.Known() || !math.IsNaN(u.Float()) || u.String() != "unknown" || u <= Whole {
			t.Errorf("%#x: known %v, %v, %v", uint32(u), u.Known(), u.Float(), u)
		}
	}
	if !Whole.Known() || Whole.Float() != 1 || Percent(25).Float() != 0.25 || Percent(25).String() != "25 %" {
		t.Errorf("a quarter is %v of %v", Percent(25), Whole)
	}
}
