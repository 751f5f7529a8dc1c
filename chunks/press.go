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
