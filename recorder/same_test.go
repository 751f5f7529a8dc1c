package recorder_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gprof/rawformat"
	"gprof/recorder"
)

var (
	sameTwo   = recorder.NewEvent2("same two", recorder.Int("a"), recorder.Uint("b"))
	sameFloat = recorder.NewEvent2("same float", recorder.Float("a"), recorder.Bool("b"))
	sameText  = recorder.NewEvent2("same text", recorder.String("a"), recorder.Duration("b"))
	sameMany  = recorder.NewEventN("same many", []recorder.AnyField{recorder.Int("a"), recorder.String("b"), recorder.Bool("c")})
	sameFour  = recorder.NewEvent4("same four", recorder.Int64("a"), recorder.Hex("b"), recorder.String("c"), recorder.Float("d"))
)

const sameFile = `instant same two: 0 1 | 1 1
instant same two: 0 7f | 1 3fff
start same two: 0 ffffffffffffffff | 1 4000
end same two: 0 3fffffff | 1 ffffffffffffffff
instant same two: 0 8000000000000000 | 1 ffffffffffffff
instant same float: 2 3ff8000000000000 | 1 1
interval same float: 2 7ff0000000000000 | 1 0
instant same text: 3 "x€" | 0 3b9aca00
interval same text: 3 "" | 0 fffffffffffffffb
instant same four: 0 fffffffffffffffe | 1 beef | 3 "four" | 2 bff0000000000000
instant same many: 0 ffffffffffffffff | 3 "x" | 1 1
start same many: 0 1
end same many:
interval same many: 1 7 | 2 3ff8000000000000 | 3 "not a bool"
interval same many: 0 3b9aca00
instant same name:
instant same note: 3 "text"
`

// Assembly and its portable counterparts write the same on all architectures: this test is run
// with each of them.
func TestSameFile(t *testing.T) {
	rec := begin(t, recorder.Options{})
	sameTwo.Mark(1, 1)
	sameTwo.Mark(127, 1<<14-1)
	sameTwo.Start(-1, 1<<14)
	sameTwo.End(1<<30-1, math.MaxUint64)
	sameTwo.Mark(math.MinInt64, 1<<56-1)
	sameFloat.Mark(1.5, true)
	sameFloat.Begin(math.Inf(1), false).End()
	sameText.Mark("x€", time.Second)
	sameText.Interval(recorder.Now(), "", -5)
	sameFour.Mark(-2, 0xbeef, "four", -1)
	sameMany.Mark(recorder.V(-1), recorder.V("x"), recorder.V(true), recorder.V("one too many"))
	sameMany.Start(recorder.V(int64(1)))
	sameMany.End()
	sameMany.Begin(recorder.V(uint64(7)), recorder.V(1.5), recorder.V("not a bool")).End()
	sameMany.Interval(recorder.Now(), recorder.V(time.Second))
	recorder.Mark("same name")
	recorder.Text("same note", "text")
	r := finish(t, rec)
	names := map[uint64]string{}
	for name, id := range r.events {
		names[id] = name
	}
	var got strings.Builder
	for _, e := range r.entries {
		if name := names[e.id]; e.id != 0 && strings.HasPrefix(name, "same ") {
			fmt.Fprintf(&got, "%s %s:%s\n", rawformat.Kinds[e.kind].Name, name, arguments(e.args))
		}
	}
	if got.String() != sameFile {
		t.Errorf("blocks:\n%s\nwant:\n%s", got.String(), sameFile)
	}
}

func arguments(args []rawformat.Arg) (text string) {
	for i, a := range args {
		if i > 0 {
			text += " |"
		}
		if a.Wire == rawformat.WireText {
			text += fmt.Sprintf(" %d %q", a.Wire, a.Text)
		} else {
			text += fmt.Sprintf(" %d %x", a.Wire, a.Num)
		}
	}
	return text
}

var (
	valuesOfNumbers = recorder.NewEvent2("values of numbers", recorder.Int("s"), recorder.Uint("u"))
	valuesOfOthers  = recorder.NewEvent2("values of others", recorder.Float("f"), recorder.Bool("b"))
)

// Numbers of all lengths are recorded correctly by assembly and by its portable counterparts: this
// test is run with each of them.
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
