package recorder_test

import (
	"math"
	"testing"

	"gprof/recorder"
)

var (
	valuesOfNumbers = recorder.NewEvent2("values of numbers", recorder.Int("s"), recorder.Uint("u"))
	valuesOfOthers  = recorder.NewEvent2("values of others", recorder.Float("f"), recorder.Bool("b"))
)

// Numbers of all lengths arrive as they are, through assembly and through its twins:
// this test is run with each of them.
func TestSameFileOfAllLengths(t *testing.T) {
	rec := begin(t, recorder.Options{CPU: recorder.CPUOff})
	var numbers []uint64
	for shift := range 64 {
		for _, near := range []uint64{0, 1, math.MaxUint64} {
			numbers = append(numbers, 1<<shift+near)
		}
	}
	for i, n := range numbers {
		valuesOfNumbers.Mark(int(n), n)
		valuesOfOthers.Mark(math.Float64frombits(n), i%2 == 1)
	}
	r := finish(t, rec)
	plain, others := r.of("values of numbers"), r.of("values of others")
	if len(plain) != len(numbers) || len(others) != len(numbers) {
		t.Fatalf("%d and %d markers, want %d", len(plain), len(others), len(numbers))
	}
	for i, n := range numbers {
		if a := plain[i].args; a[0].Num != n || a[1].Num != n {
			t.Errorf("%x arrives as %x and %x", n, a[0].Num, a[1].Num)
		}
		if a := others[i].args; a[0].Num != n || a[1].Num != uint64(i%2) {
			t.Errorf("%x and %d arrive as %x and %d", n, i%2, a[0].Num, a[1].Num)
		}
	}
}
