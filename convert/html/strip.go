package html

import "gprof/stream"

// slots is how many pieces the time of a run is cut into: about one for each
// pixel or two of the strip.
const slots = 512

// axis cuts the time of a run into slots. One that does not say when it began
// and ended has one slot.
type axis struct {
	start, end stream.Time
	width      uint64 // ns of a slot
}

func newAxis(start, end stream.Time) axis {
	if end <= start {
		return axis{start: start, end: start}
	}
	return axis{start, end, (uint64(end)-uint64(start))/slots + 1}
}

// slot is the slot of a time: the first or last for what is out of range.
func (a *axis) slot(at stream.Time) int {
	if at <= a.start || a.width == 0 {
		return 0
	}
	return int(min((uint64(at)-uint64(a.start))/a.width, slots-1))
}

// lane counts the markers of an event.
type lane struct {
	rows    int64
	count   []int64 // by slot
	longest []int64 // ns, by slot
}

// add counts the markers of b where they begin.
func (l *lane) add(a *axis, b *stream.Batch) {
	if l.count == nil {
		l.count, l.longest = make([]int64, slots), make([]int64, slots)
	}
	l.rows += int64(b.Len())
	for i, at := range b.Time {
		slot := a.slot(at)
		l.count[slot]++
		l.longest[slot] = max(l.longest[slot], b.Duration[i])
	}
}

// curve is the values of a counter: the last of each slot.
type curve struct {
	rows  int64
	known []bool // by slot
	value []int64
}

func (c *curve) add(a *axis, b *stream.Batch) {
	if c.known == nil {
		c.known, c.value = make([]bool, slots), make([]int64, slots)
	}
	c.rows += int64(b.Len())
	for i, at := range b.Time {
		slot := a.slot(at)
		c.known[slot], c.value[slot] = true, b.Value[i]
	}
}
