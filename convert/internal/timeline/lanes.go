package timeline

import (
	"container/heap"

	"gprof/stream"
)

// Lanes places the marks of a track. Slices of one lane enclose each other or don't overlap.
//
// 1. Marks come in the order of their start, of equal ones those first that last longer.
// 2. What has ended by then is closed: the innermost first.
// 3. A mark goes inside of the latest open slice of the same goroutine that lasts as long; else to a lane without
// open slices, the first of them.
// 4. A start whose end is another marker has a lane of its own until then: nobody knows what it encloses.
type Lanes struct {
	Moved int64 // intervals that have become instants

	write  func(Event)
	all    []lane
	free   numbersHeap     // those without open slices
	of     map[int64][]int // lanes with open slices, by owner, the latest last
	closes ends
	starts map[startKey][]start // without their end
	opened int64
}

// Event is a part of what a lane has.
type Event struct {
	Kind Kind
	Lane int // from 0 on: the next number is a new lane
	At   stream.Time
	End  stream.Time // of the slice, if Kind is Open
	Body []byte      // of the mark, valid until the call returns; nil if Kind is Close
}

// Kind is the kind of an event.
type Kind uint8

// The kinds of events.
const (
	Open    Kind = iota // an interval begins
	Close               // an interval ends
	Start               // a slice begins whose end is another mark, or missing
	End                 // that mark
	Instant             // a moment
)

// lane is one lane.
type lane struct {
	open []stream.Time // ends of open slices, the innermost last
}

// startKey is what a start and its end share.
type startKey struct {
	run   int
	match uint64
}

// start is one without its end.
type start struct {
	owner int64
	lane  int
}

// maxLanes bounds the lanes of a track: nobody looks through more. Intervals that would need another one become instants.
const maxLanes = 4096

// NewLanes returns Lanes that give what they have to write, in the order of time.
func NewLanes(write func(Event)) *Lanes {
	return &Lanes{write: write, all: make([]lane, 1), free: numbersHeap{0}, of: map[int64][]int{}, starts: map[startKey][]start{}}
}

// Place places a mark. They come as [Marks.Merge] gives them.
func (l *Lanes) Place(m *Mark) {
	l.closeUntil(m.Start)
	switch m.Phase {
	case stream.Instant:
		l.write(Event{Kind: Instant, Lane: l.instantLane(m), At: m.Start, Body: m.Body})
	case stream.Interval:
		l.interval(m)
	case stream.PhaseStart:
		l.start(m)
	case stream.PhaseEnd:
		l.end(m)
	}
}

// instantLane is where an instant goes: into an open slice of its owner, or where nothing is open.
func (l *Lanes) instantLane(m *Mark) int {
	if at, ok := l.around(m); ok {
		return at
	}
	if at, ok := l.takeFree(); ok {
		heap.Push(&l.free, at)
		return at
	}
	return 0
}

// around is the lane of the latest open slice of a mark's owner that lasts as long as the mark.
func (l *Lanes) around(m *Mark) (at int, ok bool) {
	open := l.of[m.Owner]
	for i := len(open) - 1; i >= 0; i-- {
		at := open[i]
		if ends := l.all[at].open; ends[len(ends)-1] >= m.End {
			return at, true
		}
	}
	return 0, false
}

// takeFree takes the first lane without open slices, or a new one. It is not ok if there are too many.
func (l *Lanes) takeFree() (at int, ok bool) {
	if len(l.free) > 0 {
		return heap.Pop(&l.free).(int), true
	}
	if len(l.all) == maxLanes {
		return 0, false
	}
	l.all = append(l.all, lane{})
	return len(l.all) - 1, true
}

// interval opens a slice.
func (l *Lanes) interval(m *Mark) {
	at, inside := l.around(m)
	if !inside {
		var ok bool
		if at, ok = l.takeFree(); !ok {
			l.instead(m)
			return
		}
		l.of[m.Owner] = append(l.of[m.Owner], at)
	}
	l.all[at].open = append(l.all[at].open, m.End)
	l.opened++
	heap.Push(&l.closes, closing{at: m.End, order: l.opened, lane: at, owner: m.Owner})
	l.write(Event{Kind: Open, Lane: at, At: m.Start, End: m.End, Body: m.Body})
}

// instead writes an instant for what has no lane.
func (l *Lanes) instead(m *Mark) {
	l.Moved++
	l.write(Event{Kind: Instant, At: m.Start, Body: m.Body})
}

// start opens a slice that ends with another marker.
func (l *Lanes) start(m *Mark) {
	at, ok := l.takeFree()
	if !ok {
		l.instead(m)
		return
	}
	key := startKey{m.run, m.Match}
	l.starts[key] = append(l.starts[key], start{m.Owner, at})
	l.write(Event{Kind: Start, Lane: at, At: m.Start, Body: m.Body})
}

// end closes the latest slice of its kind, of the same owner if there is one. Without one it is an instant.
func (l *Lanes) end(m *Mark) {
	key := startKey{m.run, m.Match}
	open := l.starts[key]
	if len(open) == 0 {
		l.write(Event{Kind: Instant, Lane: l.instantLane(m), At: m.Start, Body: m.Body})
		return
	}
	i := len(open) - 1
	for k := i; k >= 0; k-- {
		if open[k].owner == m.Owner {
			i = k
			break
		}
	}
	l.write(Event{Kind: End, Lane: open[i].lane, At: m.Start, Body: m.Body})
	heap.Push(&l.free, open[i].lane)
	l.starts[key] = append(open[:i], open[i+1:]...)
}

// closeUntil closes slices that have ended by some time.
func (l *Lanes) closeUntil(at stream.Time) {
	for len(l.closes) > 0 && l.closes[0].at <= at {
		c := heap.Pop(&l.closes).(closing)
		lane := &l.all[c.lane]
		lane.open = lane.open[:len(lane.open)-1]
		l.write(Event{Kind: Close, Lane: c.lane, At: c.at})
		if len(lane.open) > 0 {
			continue
		}
		heap.Push(&l.free, c.lane)
		open := l.of[c.owner]
		for i := range open {
			if open[i] == c.lane {
				open = append(open[:i], open[i+1:]...)
				break
			}
		}
		if l.of[c.owner] = open; len(open) == 0 {
			delete(l.of, c.owner)
		}
	}
}

// Finish closes the rest, but starts without an end.
func (l *Lanes) Finish() {
	for len(l.closes) > 0 {
		l.closeUntil(l.closes[0].at)
	}
}

// closing is the end of an open slice.
type closing struct {
	at    stream.Time
	order int64 // of its beginning
	lane  int
	owner int64
}

// ends is a heap of them: of equal ones, what began later comes first.
type ends []closing

func (e ends) Len() int { return len(e) }
func (e ends) Less(i, k int) bool {
	return e[i].at < e[k].at || e[i].at == e[k].at && e[i].order > e[k].order
}
func (e ends) Swap(i, k int) { e[i], e[k] = e[k], e[i] }
func (e *ends) Push(x any)   { *e = append(*e, x.(closing)) }
func (e *ends) Pop() any     { return pop((*[]closing)(e)) }

// numbersHeap is a heap of numbers.
type numbersHeap []int

func (p numbersHeap) Len() int           { return len(p) }
func (p numbersHeap) Less(i, k int) bool { return p[i] < p[k] }
func (p numbersHeap) Swap(i, k int)      { p[i], p[k] = p[k], p[i] }
func (p *numbersHeap) Push(x any)        { *p = append(*p, x.(int)) }
func (p *numbersHeap) Pop() any          { return pop((*[]int)(p)) }

func pop[T any](of *[]T) (last T) {
	last = (*of)[len(*of)-1]
	*of = (*of)[:len(*of)-1]
	return last
}
