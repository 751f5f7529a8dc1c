package perfetto

import (
	"container/heap"

	pb "gprof/rawformat/perfettoproto"
	"gprof/stream"
)

// lanes are tracks of Perfetto for the markers of one of ours. The first is its own; the others lie below it, have the same
// name, and are described when they are first needed. Slices of one lane enclose each other or don't overlap.
//
// 1. Marks come in the order of their start, of equal ones those first that last longer.
// 2. What has ended by then is closed: the innermost first.
// 3. A mark goes inside of the latest open slice of the same goroutine that lasts as long; else to a lane without
// open slices, the first of them.
// 4. A start whose end is another marker has a lane of its own until then: nobody knows what it encloses.
type lanes struct {
	sink   *Sink
	parent uint64
	name   string
	all    []lane
	free   numbersHeap     // those without open slices
	of     map[int64][]int // lanes with open slices, by owner, the latest last
	closes ends
	starts map[startKey][]start // without their end
	opened int64
	moved  int64 // intervals that have become instants
}

// lane is one track.
type lane struct {
	uuid uint64
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

func (s *Sink) newLanes(parent, first uint64, name string) *lanes {
	return &lanes{sink: s, parent: parent, name: name, all: []lane{{uuid: first}}, free: numbersHeap{0}, of: map[int64][]int{}, starts: map[startKey][]start{}}
}

// place writes a mark.
func (l *lanes) place(m *mark) {
	l.closeUntil(m.start)
	switch m.phase {
	case stream.Instant:
		l.write(m.start, l.instantLane(m), pb.Instant, m.body)
	case stream.Interval:
		l.interval(m)
	case stream.PhaseStart:
		l.start(m)
	case stream.PhaseEnd:
		l.end(m)
	}
}

// instantLane is where an instant goes: into an open slice of its owner, or where nothing is open.
func (l *lanes) instantLane(m *mark) int {
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
func (l *lanes) around(m *mark) (at int, ok bool) {
	open := l.of[m.owner]
	for i := len(open) - 1; i >= 0; i-- {
		at := open[i]
		if ends := l.all[at].open; ends[len(ends)-1] >= m.end {
			return at, true
		}
	}
	return 0, false
}

// takeFree takes the first lane without open slices, or a new one. It is not ok if there are too many.
func (l *lanes) takeFree() (at int, ok bool) {
	if len(l.free) > 0 {
		return heap.Pop(&l.free).(int), true
	}
	if len(l.all) == maxLanes {
		return 0, false
	}
	l.all = append(l.all, lane{uuid: l.sink.child(l.parent, l.name)})
	return len(l.all) - 1, true
}

// interval opens a slice.
func (l *lanes) interval(m *mark) {
	at, inside := l.around(m)
	if !inside {
		var ok bool
		if at, ok = l.takeFree(); !ok {
			l.instead(m)
			return
		}
		l.of[m.owner] = append(l.of[m.owner], at)
	}
	l.all[at].open = append(l.all[at].open, m.end)
	l.opened++
	heap.Push(&l.closes, closing{at: m.end, order: l.opened, lane: at, owner: m.owner})
	l.write(m.start, at, pb.SliceBegin, m.body)
}

// instead writes an instant for what has no lane.
func (l *lanes) instead(m *mark) {
	l.moved++
	l.write(m.start, 0, pb.Instant, m.body)
}

// start opens a slice that ends with another marker.
func (l *lanes) start(m *mark) {
	at, ok := l.takeFree()
	if !ok {
		l.instead(m)
		return
	}
	key := startKey{m.run, m.match}
	l.starts[key] = append(l.starts[key], start{m.owner, at})
	l.write(m.start, at, pb.SliceBegin, m.body)
}

// end closes the latest slice of its kind, of the same owner if there is one. Without one it is an instant.
func (l *lanes) end(m *mark) {
	key := startKey{m.run, m.match}
	open := l.starts[key]
	if len(open) == 0 {
		l.write(m.start, l.instantLane(m), pb.Instant, m.body)
		return
	}
	i := len(open) - 1
	for k := i; k >= 0; k-- {
		if open[k].owner == m.owner {
			i = k
			break
		}
	}
	l.write(m.start, open[i].lane, pb.SliceEnd, m.body)
	heap.Push(&l.free, open[i].lane)
	l.starts[key] = append(open[:i], open[i+1:]...)
}

// closeUntil closes slices that have ended by some time.
func (l *lanes) closeUntil(at stream.Time) {
	for len(l.closes) > 0 && l.closes[0].at <= at {
		c := heap.Pop(&l.closes).(closing)
		lane := &l.all[c.lane]
		lane.open = lane.open[:len(lane.open)-1]
		l.write(c.at, c.lane, pb.SliceEnd, nil)
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

// finish closes the rest, but starts without an end.
func (l *lanes) finish() {
	for len(l.closes) > 0 {
		l.closeUntil(l.closes[0].at)
	}
	if l.moved > 0 {
		l.sink.lost.Add(l.sink.process, stream.ReasonCut, "intervals that overlap too many others", l.moved)
	}
}

// write writes an event of a lane.
func (l *lanes) write(at stream.Time, lane int, typ uint64, body []byte) {
	event := appendNumbers(l.sink.event[:0], pb.EventType, typ, pb.EventTrack, l.all[lane].uuid)
	l.sink.event = append(event, body...)
	l.sink.write(at, pb.PacketTrackEvent, l.sink.event)
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
