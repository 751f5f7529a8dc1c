package recorder_test

import (
	"math"
	"testing"

	"gprof/rawformat"
	"gprof/recorder"
)

var (
	spanNone  = recorder.NewEvent("span none")
	spanOne   = recorder.NewEvent1("span one", recorder.Float("x"))
	spanTwo   = recorder.NewEvent2("span two", recorder.Int("n"), recorder.Uint("u"))
	spanText  = recorder.NewEvent2("span text", recorder.Int("n"), recorder.Path("t"))
	spanFour  = recorder.NewEvent4("span four", recorder.Int("a"), recorder.Int("b"), recorder.Int("c"), recorder.Int("d"))
	spanFloat = recorder.NewEvent2("span floats", recorder.Float("x"), recorder.Float("y"))
)

// Intervals of all shapes have their values, on the quick way and on the long one,
// over many pages, and on the tracks that they are aimed at.
func TestIntervalShapes(t *testing.T) {
	const rounds = 3000
	rec := begin(t, recorder.Options{Limit: 16 << 20, CPU: recorder.CPUOff})
	for i := range rounds {
		spanNone.Begin().End()
		spanOne.Begin(float64(i) / 3).End()
		spanTwo.Begin(-i*i*i, math.MaxUint64-uint64(i)).End()
		spanText.Begin(i, "text").End()
		spanFour.Begin(i, 2, 3, -i).End()
		spanFloat.Begin(1, float64(i)).End()
	}
	r := finish(t, rec)
	args := func(name string, i int) []uint64 {
		var nums []uint64
		for _, a := range r.of(name)[i].args {
			nums = append(nums, a.Num)
		}
		return nums
	}
	for _, name := range []string{"span none", "span one", "span two", "span text", "span four", "span floats"} {
		if found := r.of(name); len(found) != rounds || found[0].kind != rawformat.KindInterval {
			t.Fatalf("%s: %d found, want %d", name, len(found), rounds)
		}
	}
	for _, i := range []int{0, 1, 77, rounds - 1} {
		if a := args("span one", i); math.Float64frombits(a[0]) != float64(i)/3 {
			t.Errorf("one %d: %x", i, a)
		}
		if a := args("span two", i); int64(a[0]) != int64(-i*i*i) || a[1] != math.MaxUint64-uint64(i) {
			t.Errorf("two %d: %x", i, a)
		}
		if a := args("span text", i); a[0] != uint64(i) {
			t.Errorf("text %d: %x", i, a)
		}
		if a := args("span four", i); a[0] != uint64(i) || a[2] != 3 || int64(a[3]) != int64(-i) {
			t.Errorf("four %d: %x", i, a)
		}
		if a := args("span floats", i); math.Float64frombits(a[1]) != float64(i) {
			t.Errorf("floats %d: %x", i, a)
		}
	}
}
