package keeper

import (
	"time"

	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/rt"
)

const (
	// assumedGrowth is how much of its limit a process may be about to take in a second, even if it has
	// not grown lately.
	assumedGrowth = 1. / 64

	// ahead is how many pictures of the heap there are in the time that seems to be left.
	ahead = 4

	// densest is the least time between two pictures, so that the last one is less than a second old even
	// on a machine on which the keeper has to wait for a processor.
	densest = 250 * time.Millisecond

	// closeEvery is the time between pictures from which on they have what is not published. What was
	// allocated since the last garbage collection may be garbage, so pictures far from a limit, which
	// are to show what a program keeps, are without it.
	closeEvery = time.Second

	// arena is by how much the runtime enlarges the heap's addresses at a time. When fewer are left the
	// process ends as soon as the heap has filled those that it has, which no counter of addresses shows.
	arena = 64 << 20

	// calming is by how much the rate of growth falls from one reading of the counters to the next.
	calming = 0.9
)

// nearness is how near the process is to a limit of its memory.
type nearness struct {
	at    rt.Time // of the last reading, 0: there was none
	rooms counters.Rooms
	rate  [counters.NumRooms]float64 // bytes a second, the fastest growth lately

	nearest int           // the room that is full first
	left    time.Duration // until then, an estimate; 0: there is no limit, or no time
	limited bool          // there is a limit
}

// note takes new readings.
func (n *nearness) note(rooms *counters.Rooms, now rt.Time) {
	passed := time.Duration(now - n.at).Seconds()
	known := n.at != 0 && passed > 0
	n.limited, n.left = false, 0
	for i, room := range rooms {
		last := n.rooms[i]
		n.rooms[i], n.rate[i] = room, n.rate[i]*calming
		if room.Limit == 0 {
			continue
		}
		if known && last.Limit != 0 {
			n.rate[i] = max(n.rate[i], float64(room.Used-last.Used)/passed)
		}
		rate := max(n.rate[i], assumedGrowth*float64(room.Limit))
		free := room.Limit - room.Used
		if i == counters.RoomAddresses {
			free -= arena
		}
		left := time.Duration(min(max(0, float64(free))/rate, 3600) * float64(time.Second))
		if !n.limited || left < n.left {
			n.limited, n.left, n.nearest = true, left, i
		}
	}
	n.at = now
}

// every is the time between two pictures of the heap, which is period where no limit is near.
func (n *nearness) every(period rt.Time) rt.Time {
	if !n.limited {
		return period
	}
	return min(period, rt.Time(max(densest, n.left/ahead)))
}

// close reports whether a limit is so near that pictures have all that is known.
func (n *nearness) close() bool { return n.limited && n.left/ahead <= closeEvery }
