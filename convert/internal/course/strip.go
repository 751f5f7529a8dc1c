// Package course is the course of a run in a bounded number of numbers, however long it was: its time is cut into
// [Slots]; samples are counted by track, slot and stack, markers by event and slot, and of a counter each slot has one
// value.
package course

import (
	"slices"

	"gprof/stream"
)

// Slots is the number of pieces of a run's time, about one for each pixel or two of the strip.
const Slots = 512

// Axis divides the time of a run into slots. A run without start and end has one.
type Axis struct {
	Start, End stream.Time
	Width      uint64 // ns of a slot; 0: there is one
}

// NewAxis divides the time from start to end.
func NewAxis(start, end stream.Time) Axis {
	if end <= start {
		return Axis{Start: start, End: start}
	}
	return Axis{start, end, (uint64(end)-uint64(start))/Slots + 1}
}

// Slot is the slot of a time, the first or last if it is out of range.
func (a *Axis) Slot(at stream.Time) int {
	if at <= a.Start || a.Width == 0 {
		return 0
	}
	return int(min((uint64(at)-uint64(a.Start))/a.Width, Slots-1))
}

// Sums are numbers by slot, initially 0. While few are set they are a list, because there may be
// very many tracks and events with few each.
type Sums struct {
	list []Value // in order
	all  []int64 // by slot, instead of list; nil while there are few
}

// Value is a number in a slot.
type Value struct {
	Slot  int
	Value int64
}

// fewSlots bounds the list.
const fewSlots = Slots / 16

// At is the number of a slot, valid until the next call.
func (s *Sums) At(slot int) *int64 {
	if s.all != nil {
		return &s.all[slot]
	}
	i, found := slices.BinarySearchFunc(s.list, slot, func(a Value, slot int) int { return a.Slot - slot })
	if !found && len(s.list) == fewSlots {
		s.all, s.list = s.BySlot(), nil
		return &s.all[slot]
	}
	if !found {
		s.list = slices.Insert(s.list, i, Value{Slot: slot})
	}
	return &s.list[i].Value
}

// BySlot are all numbers, nil if there are none.
func (s *Sums) BySlot() []int64 {
	if s.all != nil || len(s.list) == 0 {
		return s.all
	}
	all := make([]int64, Slots)
	for _, x := range s.list {
		all[x.Slot] = x.Value
	}
	return all
}

// Lane counts the markers of an event.
type Lane struct {
	Rows    int64
	Count   Sums
	Longest Sums // ns
}

// Add counts the markers of b at their start.
func (l *Lane) Add(a *Axis, b *stream.Batch) {
	l.Rows += int64(b.Len())
	for i, at := range b.Time {
		slot := a.Slot(at)
		*l.Count.At(slot)++
		longest := l.Longest.At(slot)
		*longest = max(*longest, b.Duration[i])
	}
}

// Curve is the values of a counter: the last of each slot, in order.
type Curve struct {
	Rows   int64
	Values []Value
}

// Add takes the next rows, in the order of time.
func (c *Curve) Add(a *Axis, b *stream.Batch) {
	c.Rows += int64(b.Len())
	for i, at := range b.Time {
		slot := a.Slot(at)
		if n := len(c.Values); n == 0 || c.Values[n-1].Slot != slot {
			c.Values = append(c.Values, Value{Slot: slot})
		}
		c.Values[len(c.Values)-1].Value = b.Value[i]
	}
}
