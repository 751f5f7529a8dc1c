package facts

import (
	"time"

	"gprof/stream"
)

// Steps is how many steps the time that is looked at closely has. A change that lasts for a
// twentieth of it can be seen, and a step of the shortest recordings still has some samples.
const Steps = 20

// Recent is how much of the end of a recording is looked at closely. What was before is one step
// of history, to compare with: what brought a process down within five minutes would vanish
// in a twentieth of a week.
const Recent = 5 * time.Minute

// Timeline is the time of a process in steps: 0 is the history, the others are of equal length.
type Timeline struct {
	From stream.Time // where the history begins
	Near stream.Time // where the steps begin
	End  stream.Time
}

// longest is the longest timeline, and the farthest from 1970, in ns: times of a damaged recording may be any
// numbers, and differences of these must not overflow.
const longest = stream.Time(1 << 61)

// NewTimeline returns the timeline from one time to another.
func NewTimeline(from, end stream.Time) Timeline {
	end = min(max(end, -longest), longest)
	from = min(max(from, end-longest), longest)
	end = max(end, from+1)
	return Timeline{From: from, Near: max(from, end-stream.Time(Recent)), End: end}
}

// Series has a value for each step of a Timeline; that of the history comes first.
type Series [Steps + 1]float64

// Sum is the sum of the values of some steps.
func (s *Series) Sum(from, to int) (sum float64) {
	for _, v := range s[from:to] {
		sum += v
	}
	return sum
}

// Total is the sum of all values.
func (s *Series) Total() float64 { return s.Sum(0, len(s)) }

// At returns the step of a time. Those outside of the timeline count to the step at its end.
func (l Timeline) At(t stream.Time) int {
	if t < l.Near {
		return 0
	}
	if t >= l.End {
		return Steps
	}
	return 1 + int(min(Steps-1, float64(t-l.Near)/float64(l.End-l.Near)*Steps))
}

// Begin is when a step begins.
func (l Timeline) Begin(step int) stream.Time {
	if step == 0 {
		return l.From
	}
	return l.Near + stream.Time(float64(l.End-l.Near)*float64(step-1)/Steps)
}

// Length is how many seconds a step has; 0 if there is no history.
func (l Timeline) Length(step int) float64 {
	if step == 0 {
		return time.Duration(l.Near - l.From).Seconds()
	}
	return time.Duration(l.End-l.Near).Seconds() / Steps
}

// Seconds is the length of the steps from one to another.
func (l Timeline) Seconds(from, to int) (sum float64) {
	for step := from; step < to; step++ {
		sum += l.Length(step)
	}
	return sum
}

// Rates is what a series has in a second of each step.
func (l Timeline) Rates(s *Series) (rates Series) {
	for step := range s {
		if length := l.Length(step); length > 0 {
			rates[step] = s[step] / length
		}
	}
	return rates
}

// spread divides an amount among the steps between two times, by how much of it lies in each. What lies
// outside of the timeline is left out.
func (l Timeline) spread(s *Series, from, to stream.Time, amount float64) {
	length := float64(to) - float64(from)
	from, to = max(from, l.From), min(to, l.End)
	if to <= from {
		return
	}
	for step, last := l.At(from), l.At(to); step <= last; step++ {
		begin, end := l.Begin(step), l.End
		if step < Steps {
			end = l.Begin(step + 1)
		}
		if part := min(to, end) - max(from, begin); part > 0 {
			s[step] += amount * float64(part) / length
		}
	}
}
