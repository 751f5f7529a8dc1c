package recorder

import (
	"testing"
	"time"
)

// Looks are at regular times. What was missed is not caught up on, and what is late
// does not make the next one late.
func TestLooksAreRegular(t *testing.T) {
	const second = Time(time.Second)
	g := &gauge{every: second}
	for _, c := range []struct{ now, due Time }{
		{5*second + 1, 6 * second}, {6 * second, 7 * second}, {7*second + second/2, 8 * second}, {20*second + 3, 21 * second},
	} {
		if g.next(c.now, 0); g.due != c.due {
			t.Errorf("after a look at %v the next is due at %v, want %v", time.Duration(c.now), time.Duration(g.due), time.Duration(c.due))
		}
	}
	for range 5 { // it may have been the housekeeper that had to wait
		if g.next(30*second, 10*second); g.due != 31*second {
			t.Errorf("due at %v", time.Duration(g.due))
		}
	}
	for range 20 {
		g.next(31*second, second/100)
	}
	if g.due != 40*second { // every ten seconds, since a look takes so long
		t.Errorf("due at %v", time.Duration(g.due))
	}
}

// A look at the heap that had to wait for a processor puts the next one off for a second
// or two; when all take as long, they become as rare as they should be.
func TestHeapLooksThatWaited(t *testing.T) {
	const second = Time(time.Second)
	h := &heapMeter{period: second / 2}
	if h.next(100*second, second/10000); h.due != 100*second+second/2 {
		t.Errorf("the next is due at %v", time.Duration(h.due))
	}
	if h.next(200*second, second/10); h.due < 201*second || h.due > 202*second {
		t.Errorf("after one that waited the next is due at %v", time.Duration(h.due))
	}
	for range 20 {
		h.next(300*second, second/10)
	}
	if h.due != 400*second {
		t.Errorf("after many that took 100 ms the next is due at %v", time.Duration(h.due))
	}
}
