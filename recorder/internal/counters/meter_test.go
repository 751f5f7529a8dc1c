package counters

import (
	"testing"
	"time"
)

// Gauges are read at regular times. Missed reads are not caught up on, and a late read does not delay the
// next one.
func TestReadsAreRegular(t *testing.T) {
	g := &gauge{every: time.Second}
	for _, c := range []struct{ now, due time.Duration }{
		{5*time.Second + 1, 6 * time.Second}, {6 * time.Second, 7 * time.Second}, {7*time.Second + time.Second/2, 8 * time.Second}, {20*time.Second + 3, 21 * time.Second},
	} {
		if g.schedule(c.now, 0); g.due != c.due {
			t.Errorf("after a read at %v the next is due at %v, want %v", c.now, g.due, c.due)
		}
	}
	for range 5 { // one slow read may be due to waiting for a processor
		if g.schedule(30*time.Second, 10*time.Second); g.due != 31*time.Second {
			t.Errorf("due at %v", g.due)
		}
	}
	for range 20 {
		g.schedule(31*time.Second, time.Second/100)
	}
	if g.due != 40*time.Second { // every ten seconds, since a read takes so long
		t.Errorf("due at %v", g.due)
	}
}

// full is a dictionary that has room for so many counters.
type full struct {
	room    int
	defined int
	written []int
}

func (f *full) Define(records ...[]byte) int {
	n := min(f.room-f.defined, len(records))
	f.defined += n
	return n
}

func (f *full) Tick() int64                         { return 1 }
func (f *full) Write(id int, r Reading, tick int64) { f.written = append(f.written, id) }

// A counter that could not be defined is not written, and no counter is defined after it.
func TestNoRoomForCounters(t *testing.T) {
	var m Meter
	for range 2 {
		m.add(&gauge{specs: make([]Spec, 2), read: func(v []Reading) bool {
			v[0].Known, v[1].Known = true, true
			return true
		}})
	}
	f := full{room: 1}
	for round := range time.Duration(2) {
		m.Round(&f, 1+round*time.Hour)
		f.room = 9
	}
	if len(f.written) != 2 || f.written[0] != 1 || f.written[1] != 1 || len(m.Definitions()) != 1 {
		t.Errorf("%d were defined, and these written: %v; want the first one", len(m.Definitions()), f.written)
	}
}
