package pprof

import (
	"math"

	"gprof/rawformat/profileproto"
)

// tables are what the samples of a file refer to, by numbers that the file gives
// them.
type tables struct {
	texts     texts
	mappings  numbered[mapping]
	locations numbered[location]
	functions numbered[function]
	lines     []line

	malformed int64 // messages
}

type mapping struct{ start, limit, offset, file, build uint64 }

type function struct {
	name, system, file uint64
	start              int32
}

// location is a place in the code. Its lines are functions that were inlined, the
// innermost first, and what they were inlined into.
type location struct {
	mapping, address uint64
	from, to         int32 // in lines
}

type line struct {
	function uint64
	number   int32
}

// leastMessage is how long the message of a row is at least that is worth a place
// before it has come.
const leastMessage = 8

// reserve makes room for what a file is known to hold.
func (t *tables) reserve(h *header) {
	room := func(field int) int { return int(min(h.counts[field], h.size/leastMessage)) }
	t.texts.at = make([]extent, 0, room(profileproto.ProfileString))
	t.locations.reserve(room(profileproto.ProfileLocation))
	t.functions.reserve(room(profileproto.ProfileFunction))
	t.lines = make([]line, 0, room(profileproto.ProfileLocation))
}

// reset empties t and keeps its memory.
func (t *tables) reset() {
	t.texts = texts{at: t.texts.at[:0]}
	t.mappings.reset()
	t.locations.reset()
	t.functions.reset()
	t.lines = t.lines[:0]
	t.malformed = 0
}

// maxInline is how many lines of a location are read; no compiler inlines so
// deep.
const maxInline = 256

// numbered is a table whose rows have numbers of their own. Mostly they count up
// from 1.
type numbered[T any] struct {
	rows   []T
	dense  []int32 // by number: 1 and the place in rows, 0 none
	sparse map[uint64]int32
}

// slack is how far numbers may be above how many there are to be looked up by
// their place.
const slack = 1024

// reserve makes room for n rows.
func (n *numbered[T]) reserve(rows int) {
	n.rows, n.dense = make([]T, 0, rows), make([]int32, 0, rows+1)
}

func (n *numbered[T]) reset() { n.rows, n.dense, n.sparse = n.rows[:0], n.dense[:0], nil }

// add adds a row, unless there is one with the number.
func (n *numbered[T]) add(number uint64, row T) (ok bool) {
	if n.find(number) >= 0 || len(n.rows) == math.MaxInt32 {
		return false
	}
	n.rows = append(n.rows, row)
	place := int32(len(n.rows))
	if number >= 2*uint64(place)+slack {
		if n.sparse == nil {
			n.sparse = make(map[uint64]int32)
		}
		n.sparse[number] = place
		return true
	}
	for uint64(len(n.dense)) <= number {
		n.dense = append(n.dense, 0)
	}
	n.dense[number] = place
	return true
}

// find returns the place of a row, below 0 if there is none.
func (n *numbered[T]) find(number uint64) int {
	if number < uint64(len(n.dense)) && n.dense[number] > 0 {
		return int(n.dense[number]) - 1
	}
	return int(n.sparse[number]) - 1
}

// read reads a field of a profile, if it is one of a table, which ends at a place
// of the file. The error is a [damage.ErrTooBig].
func (t *tables) read(v *field, end int64) (err error) {
	ok := true
	switch {
	case !v.known():
	case v.number == profileproto.ProfileString:
		err = t.texts.add(v.bytes, end)
	case v.number == profileproto.ProfileMapping:
		ok = t.mapping(v.bytes)
	case v.number == profileproto.ProfileFunction:
		ok = t.function(v.bytes)
	case v.number == profileproto.ProfileLocation:
		ok = t.location(v.bytes)
	}
	if !ok {
		t.malformed++
	}
	return err
}

func (t *tables) mapping(body []byte) (ok bool) {
	var n numbers
	ok = n.read(body)
	return t.mappings.add(n[profileproto.MappingID], mapping{
		start: n[profileproto.MappingStart], limit: n[profileproto.MappingLimit], offset: n[profileproto.MappingOffset],
		file: n[profileproto.MappingFile], build: n[profileproto.MappingBuild],
	}) && ok
}

func (t *tables) function(body []byte) (ok bool) {
	var n numbers
	ok = n.read(body)
	return t.functions.add(n[profileproto.FunctionID], function{
		name: n[profileproto.FunctionName], system: n[profileproto.FunctionSystem], file: n[profileproto.FunctionFile],
		start: lineOf(n[profileproto.FunctionStart]),
	}) && ok
}

// lineOf is the number of a line, 0 if it is none.
func lineOf(n uint64) int32 {
	if n > math.MaxInt32 {
		return 0
	}
	return int32(n)
}

func (t *tables) location(body []byte) (ok bool) {
	from := int32(len(t.lines))
	var n numbers
	m := message{rest: body}
	ok = true
	for v, more := m.read(); more; v, more = m.read() {
		if v.number == profileproto.LocationLine {
			ok = t.line(v.bytes, from) && ok
		} else {
			n.set(v)
		}
	}
	row := location{mapping: n[profileproto.LocationMapping], address: n[profileproto.LocationAddress], from: from, to: int32(len(t.lines))}
	return t.locations.add(n[profileproto.LocationID], row) && ok && !m.bad
}

// line adds a line to the location whose first is from.
func (t *tables) line(body []byte, from int32) (ok bool) {
	if len(t.lines)-int(from) == maxInline || len(t.lines) == math.MaxInt32 {
		return false
	}
	var n numbers
	ok = n.read(body)
	t.lines = append(t.lines, line{n[profileproto.LineFunction], lineOf(n[profileproto.LineNumber])})
	return ok
}

// bytes is about how much memory t takes.
func (t *tables) bytes() int64 {
	return t.texts.bytes() + 40*int64(cap(t.mappings.rows)) + 32*int64(cap(t.functions.rows)) + 24*int64(cap(t.locations.rows)) + 16*int64(cap(t.lines)) +
		4*int64(cap(t.functions.dense)+cap(t.locations.dense)) + 48*int64(len(t.functions.sparse)+len(t.locations.sparse)+len(t.mappings.sparse))
}
