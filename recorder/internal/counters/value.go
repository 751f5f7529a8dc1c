package counters

import "gprof/rawformat"

// Value is what the counter of that name showed when it was last read, 0 if it never was.
func (m *Meter) Value(name string) int64 {
	for i := range m.probes {
		if p := &m.probes[i]; p.Name == name && p.Mode&rawformat.CounterOwn != 0 {
			return p.written.Value
		}
	}
	return 0
}

// Share is the largest share of a room that is in use, and the name of that room; 0 if there is none.
func (r *Rooms) Share() (share float64, name string) {
	for i, room := range r {
		if room.Limit > 0 {
			if of := float64(room.Used) / float64(room.Limit); of > share {
				share, name = of, RoomNames[i]
			}
		}
	}
	return share, name
}
