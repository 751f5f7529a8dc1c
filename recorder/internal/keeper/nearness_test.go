package keeper

import (
	"testing"
	"time"

	"gprof/recorder/internal/backlog"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/rt"
)

const mebi = 1 << 20

// rooms are a cgroup's and the machine's, in MiB.
func rooms(used, limit, machineUsed, machine int64) *counters.Rooms {
	return &counters.Rooms{counters.RoomGroup: {Used: used * mebi, Limit: limit * mebi}, counters.RoomMachine: {Used: machineUsed * mebi, Limit: machine * mebi}}
}

// Pictures get denser as the room becomes less, by its growth, and by how little is left.
func TestNearness(t *testing.T) {
	const period = 10 * time.Second
	for _, tt := range []struct {
		name        string
		first, then *counters.Rooms // a tenth of a second later
		every       time.Duration
		close       bool
		nearest     int
	}{
		{"no limit", rooms(100, 0, 0, 0), rooms(200, 0, 0, 0), period, false, counters.RoomGroup},
		{"far", rooms(100, 1000, 0, 0), rooms(100, 1000, 0, 0), period, false, counters.RoomGroup},
		{"half", rooms(512, 1024, 0, 0), rooms(512, 1024, 0, 0), 8 * time.Second, false, counters.RoomGroup},
		{"near", rooms(972, 1024, 0, 0), rooms(972, 1024, 0, 0), 812500 * time.Microsecond, true, counters.RoomGroup},
		{"full", rooms(1024, 1024, 0, 0), rooms(1024, 1024, 0, 0), densest, true, counters.RoomGroup},
		{"a limit below the use", rooms(2048, 1024, 0, 0), rooms(2048, 1024, 0, 0), densest, true, counters.RoomGroup},
		{"fast", rooms(100, 1000, 0, 0), rooms(120, 1000, 0, 0), 1100 * time.Millisecond, false, counters.RoomGroup},
		{"faster", rooms(100, 1000, 0, 0), rooms(200, 1000, 0, 0), densest, true, counters.RoomGroup},
		{"falling", rooms(600, 1000, 0, 0), rooms(100, 1000, 0, 0), period, false, counters.RoomGroup},
		{"the other", rooms(100, 1000, 972, 1024), rooms(100, 1000, 972, 1024), 812500 * time.Microsecond, true, counters.RoomMachine},
		{"a limit that appears", rooms(900, 0, 0, 0), rooms(1000, 1024, 0, 0), 375 * time.Millisecond, true, counters.RoomGroup},
		{"a limit that is lowered", rooms(900, 10000, 0, 0), rooms(900, 901, 0, 0), densest, true, counters.RoomGroup},
		{"a limit that is lifted", rooms(900, 901, 0, 0), rooms(900, 0, 0, 0), period, false, counters.RoomGroup},
	} {
		var n nearness
		n.note(tt.first, rt.Time(time.Second))
		n.note(tt.then, rt.Time(1100*time.Millisecond))
		every := time.Duration(n.every(rt.Time(period)))
		if every.Round(time.Microsecond) != tt.every || n.close() != tt.close || n.nearest != tt.nearest {
			t.Errorf("%s: every %v, close %v, %s; want %v, %v, %s", tt.name, every, n.close(), counters.RoomNames[n.nearest], tt.every, tt.close, counters.RoomNames[tt.nearest])
		}
	}
}

// A burst of growth is forgotten when it is over.
func TestNearnessCalms(t *testing.T) {
	var n nearness
	now := rt.Time(time.Second)
	for i := range int64(100) {
		n.note(rooms(100+min(100*i, 100), 1000, 0, 0), now)
		now += rt.Time(100 * time.Millisecond)
	}
	if every := n.every(rt.Time(10 * time.Second)); every != rt.Time(10*time.Second) {
		t.Errorf("every %v", time.Duration(every))
	}
}

// Where pictures are dear, the next one comes later: together they take 0.3 % of a processor at most.
func TestPicturesKeepTheirBudget(t *testing.T) {
	h := &heapMeter{period: rt.Time(10 * time.Second), buckets: []backlog.Bucket{}}
	h.near.note(rooms(1024, 1024, 0, 0), rt.Time(time.Second))
	for range 20 {
		h.learn(rt.Time(3 * time.Millisecond))
	}
	if d := time.Duration(h.due() - h.begun); d != 999*time.Millisecond {
		t.Errorf("the next one is due after %v, want 999 ms", d)
	}
	h.learn(rt.Time(30 * time.Microsecond))
	if d := time.Duration(h.due() - h.begun); d != densest {
		t.Errorf("the next one is due after %v, want %v", d, densest)
	}
}
