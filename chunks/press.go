package chunks

// pressedFor is for how many Maintains a session counts as full after it was:
// some ten seconds. Else a process that gave a spare chunk up would make it
// again before anybody else could use the room.
const pressedFor = 100

// ready is how many spare chunks there should be now. While the session is full
// they are few: room that holds nothing goes before what was recorded.
func (r *Ring) ready() int64 {
	n := r.pressed.Load()
	if n == 0 {
		return int64(r.o.MinSpare)
	}
	r.pressed.Store(n - 1)
	return int64(r.o.Pressed)
}

// refused notes that the session has no room for that many spare chunks. From
// the next Maintain on fewer are made; only for those is room asked of others, or for
// what is used up right now. What was used up a while ago is no reason: else those
// that were busy a moment ago would together take all that others have recorded.
func (r *Ring) refused(spares int) {
	r.pressed.Store(pressedFor)
	spares = min(spares, max(r.o.Pressed, int(r.lately)))
	r.want(max(0, int64(spares)-r.spares.Load()))
}

// clearings is how often a ring that begins asks for room on a full disk: remains
// may lie in chunks much smaller than its own.
const clearings = 10

// crowded notes whether the disk had room for one more chunk file. If not, room
// is asked for as if the session were full.
func (r *Ring) crowded(err error, spares int) {
	if s := r.o.Slot; s != nil && s.Crowded(err) {
		r.refused(spares)
	}
}

// clear makes room for the smallest ring where the disk has none.
func (r *Ring) clear(err error) bool {
	return r.o.Slot != nil && r.o.Slot.ClearDisk(err, minFiles*int64(r.o.ChunkFile))
}
