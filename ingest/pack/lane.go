package pack

import "gprof/rawformat"

// numSlots is how many values a lane remembers: of 16 fields and 16 arguments.
const numSlots = 32

// lane is what the blocks of one thread, event or counter had last. What comes
// next is often the same, or a little more.
type lane struct {
	key  [2]uint64
	time uint64
	last [numSlots]uint64
	text [numSlots][]byte
}

// maxLanes bounds the lanes of a kind. Of more, those used longest ago are
// forgotten.
const maxLanes = 128

// lanes are those of a kind of block, the one used last first.
type lanes struct {
	order []*lane
	free  []*lane
}

// reset forgets all lanes.
func (l *lanes) reset() {
	l.free = append(l.free, l.order...)
	l.order = l.order[:0]
}

// find returns the rank of the lane with a key, -1 if there is none.
func (l *lanes) find(key [2]uint64) int {
	for i, x := range l.order {
		if x.key == key {
			return i
		}
	}
	return -1
}

// use moves the lane of a rank to the front.
func (l *lanes) use(rank int) *lane {
	x := l.order[rank]
	copy(l.order[1:rank+1], l.order[:rank])
	l.order[0] = x
	return x
}

// add puts a new lane to the front.
func (l *lanes) add(key [2]uint64) *lane {
	var x *lane
	switch n := len(l.order); {
	case n == maxLanes:
		x = l.order[n-1]
		l.order = l.order[:n-1]
	case len(l.free) > 0:
		x = l.free[len(l.free)-1]
		l.free = l.free[:len(l.free)-1]
	default:
		x = new(lane)
	}
	*x = lane{key: key}
	l.order = append(l.order, nil)
	copy(l.order[1:], l.order)
	l.order[0] = x
	return x
}

// keys says which fields of a kind name its lane: number of them from field
// from on, none of all others. Kinds of one group share their lanes.
type keys struct {
	group        rawformat.Kind
	from, number int
}

// keysOf is the table of kinds that have more than one lane.
var keysOf = [256]keys{
	rawformat.KindContext:    {rawformat.KindContext, 0, 1},
	rawformat.KindSample:     {rawformat.KindSample, 1, 2},
	rawformat.KindSameSample: {rawformat.KindSample, 1, 2},
	rawformat.KindInstant:    {rawformat.KindInstant, 0, 1},
	rawformat.KindInterval:   {rawformat.KindInterval, 0, 1},
	rawformat.KindStart:      {rawformat.KindStart, 0, 1},
	rawformat.KindEnd:        {rawformat.KindEnd, 0, 1},
	rawformat.KindCounter:    {rawformat.KindCounter, 1, 1},
}

// slotOf is where a lane remembers a field: a repeated sample has some of a
// sample's.
func slotOf(k rawformat.Kind, field int) int {
	if k == rawformat.KindSameSample && field > 2 {
		return field + 2 // weight and cpu
	}
	return field
}

// argSlot is where a lane remembers an argument.
func argSlot(i int) int { return 16 + i }
