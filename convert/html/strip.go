package html

import (
	"slices"

	"gprof/stream"
)

// slots is the number of pieces of a run's time, about one for each pixel or two of the strip.
const slots = 512

// axis divides the time of a run into slots. A run without start and end has one.
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

// slot is the slot of a time, the first or last if it is out of range.
func (a *axis) slot(at stream.Time) int {
	if at <= a.start || a.width == 0 {
		return 0
	}
	return int(min((uint64(at)-uint64(a.start))/a.width, slots-1))
}

// sums are numbers by slot, initially 0. While few are set they are a list, because there may be
// very many tracks and events with few each.
type sums struct {
	list []slotValue // in order
	all  []int64     // by slot, instead of list; nil while there are few
}

// slotValue is a number in a slot.
type slotValue struct {
	slot  int
	value int64
}

// fewSlots bounds the list.
const fewSlots = slots / 16

// at is the number of a slot, valid until the next call.
func (s *sums) at(slot int) *int64 {
	if s.all != nil {
		return &s.all[slot]
	}
	i, found := slices.BinarySearchFunc(s.list, slot, func(a slotValue, slot int) int { return a.slot - slot })
	if !found && len(s.list) == fewSlots {
		s.all, s.list = s.bySlot(), nil
		return &s.all[slot]
	}
	if !found {
		s.list = slices.Insert(s.list, i, slotValue{slot: slot})
	}
	return &s.list[i].value
}

// bySlot are all numbers, nil if there are none.
func (s *sums) bySlot() []int64 {
	if s.all != nil || len(s.list) == 0 {
		return s.all
	}
	all := make([]int64, slots)
	for _, x := range s.list {
		all[x.slot] = x.value
	}
	return all
}

// lane counts the markers of an event.
type lane struct {
	rows    int64
	count   sums
	longest sums // ns
}

// add counts the markers of b at their start.
func (l *lane) add(a *axis, b *stream.Batch) {
	l.rows += int64(b.Len())
	for i, at := range b.Time {
		slot := a.slot(at)
		*l.count.at(slot)++
		longest := l.longest.at(slot)
		*longest = max(*longest, b.Duration[i])
	}
}

// curve is the values of a counter: the last of each slot, in order.
type curve struct {
	rows   int64
	values []slotValue
}

// add takes the next rows, in the order of time.
func (c *curve) add(a *axis, b *stream.Batch) {
	c.rows += int64(b.Len())
	for i, at := range b.Time {
		slot := a.slot(at)
		if n := len(c.values); n == 0 || c.values[n-1].slot != slot {
			c.values = append(c.values, slotValue{slot: slot})
		}
		c.values[len(c.values)-1].value = b.Value[i]
	}
}
