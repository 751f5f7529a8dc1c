//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package rt

import (
	"testing"
	"time"
)

// All tricks work where they are built.
func TestTricks(t *testing.T) {
	if err := TryWalk(); err != nil {
		t.Error(err)
	}
	if FindGoroutine() == 0 || FindStart() == 0 {
		t.Error("no number of goroutines, or not where they began")
	}
	if a := ReadCounter(); a == 0 {
		t.Error("the counter shows 0")
	}
	first := ReadCounter()
	for start := time.Now(); time.Since(start) < time.Millisecond; {
	}
	if second := ReadCounter(); second <= first {
		t.Errorf("the counter shows %d, a millisecond later %d", first, second)
	}
	word, flag := uint64(1), uint32(1)
	releaseWord(&word, 1<<40|7)
	releaseFlag(&flag)
	if word != 1<<40|7 || flag != 0 {
		t.Errorf("released %x and %d", word, flag)
	}
	flag = 1
	releaseWords(&word, 3<<40, &flag)
	if word != 3<<40 || flag != 0 {
		t.Errorf("released %x and %d", word, flag)
	}
}

// A walk stops at the length that it is given, and skips what it is told to.
func TestWalk(t *testing.T) {
	const most = 64
	nest(5, func() {
		var all, some [most]uintptr
		n, _ := WalkFrames(&all[0], most, 0)
		for skip := range n + 2 {
			for room := range n + 2 {
				some = [most]uintptr{}
				got, sum := WalkFrames(&some[0], room, skip)
				if sum != SumOf(some[:got]) {
					t.Fatalf("%d frames after %d: the sum is %x", got, skip, sum)
				}
				if want := min(room, max(n-skip, 0)); got != want || got > 0 && some[0] != all[skip] && n != most {
					t.Fatalf("%d frames after %d, with room for %d: %d", n, skip, room, got)
				}
			}
		}
		if n < 6 {
			t.Errorf("%d frames", n)
		}
	})
}

// nest calls f at the end of n calls.
//
//go:noinline
func nest(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	nest(n-1, f)
}
