package rt

import (
	"sync"
	"testing"
	"time"
)

// far is longer than any test takes.
const far = time.Hour

// A nap ends by itself, or when it is woken, also if that was before it began.
func TestNap(t *testing.T) {
	var n Nap
	defer n.Close()
	n.Wake()
	if !n.Sleep(far) {
		t.Error("a wake before the first sleep was lost")
	}
	for _, d := range []time.Duration{-1, 0, 1, time.Millisecond} {
		begun := time.Now()
		if n.Sleep(d) || time.Since(begun) < d {
			t.Errorf("%v: woken, or too early", d)
		}
	}
	n.Wake()
	n.Wake()
	if !n.Sleep(far) {
		t.Error("a wake before the sleep was lost")
	}
	if n.Sleep(time.Millisecond) {
		t.Error("two wakes before one sleep end another one")
	}
}

// No wake is lost, whenever it comes.
func TestNapIsWoken(t *testing.T) {
	for range 50 {
		var n Nap
		var all sync.WaitGroup
		asleep := make(chan struct{})
		all.Go(func() {
			for range asleep {
				n.Wake()
			}
		})
		for range 200 {
			asleep <- struct{}{}
			if !n.Sleep(far) {
				t.Fatal("not woken")
			}
		}
		close(asleep)
		all.Wait()
		n.Close()
		n.Wake() // does nothing
	}
}
