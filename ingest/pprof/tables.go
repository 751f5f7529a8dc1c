package pprof

import (
	"fmt"
	"math"

	"gprof/ingest/internal/damage"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
)

// tables are what a file's samples refer to, by numbers of the file.
type tables struct {
	texts     texts
	mappings  idTable[mapping]
	locations idTable[location]
	functions idTable[function]
	lines     []line

	malformed int64 // messages
}

type mapping struct{ start, limit, offset, file, build uint64 }

type function struct {
	name, system, file uint64
	start              int32
}

// location is a place in the code. Its lines are the functions inlined there, the innermost first,
// and the one they are inlined into.
type location struct {
	mapping, address uint64
	from, to         int32 // in lines
}

type line struct {
	function uint64
	number   int32
}

// leastMessage is the least size of a message that room is made for in advance.
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

// maxInline bounds the lines of a location; no compiler inlines so deep.
const maxInline = 256

// idTable is a table whose rows have numbers, which mostly count up from 1.
type idTable[T any] struct {
	rows   []T
	dense  []int32 // by number: 1 + index in rows, 0 none
	sparse map[uint64]int32
}

// slack is how far numbers may exceed the number of rows before they are kept in a map.
const slack = 1024

func (n *idTable[T]) reserve(rows int) {
	n.rows, n.dense = make([]T, 0, rows), make([]int32, 0, rows+1)
}

func (n *idTable[T]) reset() { n.rows, n.dense, n.sparse = n.rows[:0], n.dense[:0], nil }

// add adds a row, unless the number is taken.
func (n *idTable[T]) add(number uint64, row T) (ok bool) {
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

// find returns the index of a row, below 0 if there is none.
func (n *idTable[T]) find(number uint64) int {
	if number < uint64(len(n.dense)) && n.dense[number] > 0 {
		return int(n.dense[number]) - 1
	}
	return int(n.sparse[number]) - 1
}

// read takes a field of the file, which ends at an offset, if it is one of a table. The error is a
// [damage.ErrTooBig].
func (t *tables) read(v *protobuf.Field, end int64) (err error) {
	ok := true
	switch {
	case !known(v):
	case v.Number == profileproto.ProfileString:
		err = t.texts.add(v.Bytes, end)
	case v.Number == profileproto.ProfileMapping:
		ok = t.mapping(v.Bytes)
	case v.Number == profileproto.ProfileFunction:
		ok = t.function(v.Bytes)
	case v.Number == profileproto.ProfileLocation:
		ok = t.location(v.Bytes)
	}
	if !ok {
		t.malformed++
	}
	return err
}

func (t *tables) mapping(body []byte) (ok bool) {
	var n protobuf.Numbers
	ok = n.Read(body)
	return t.mappings.add(n[profileproto.MappingID], mapping{
		start: n[profileproto.MappingStart], limit: n[profileproto.MappingLimit], offset: n[profileproto.MappingOffset],
		file: n[profileproto.MappingFile], build: n[profileproto.MappingBuild],
	}) && ok
}

func (t *tables) function(body []byte) (ok bool) {
	var n protobuf.Numbers
	ok = n.Read(body)
	return t.functions.add(n[profileproto.FunctionID], function{
		name: n[profileproto.FunctionName], system: n[profileproto.FunctionSystem], file: n[profileproto.FunctionFile],
		start: lineOf(n[profileproto.FunctionStart]),
	}) && ok
}

// lineOf is a line number, 0 if it is none.
func lineOf(n uint64) int32 {
	if n > math.MaxInt32 {
		return 0
	}
	return int32(n)
}

func (t *tables) location(body []byte) (ok bool) {
	from := int32(len(t.lines))
	var n protobuf.Numbers
	m := protobuf.Message{Rest: n.Take(body)}
	ok = true
	for v, more := m.Read(); more; v, more = m.Read() {
		if v.Number == profileproto.LocationLine {
			ok = t.line(v.Bytes, from) && ok
		} else {
			n.Set(v)
		}
	}
	row := location{mapping: n[profileproto.LocationMapping], address: n[profileproto.LocationAddress], from: from, to: int32(len(t.lines))}
	return t.locations.add(n[profileproto.LocationID], row) && ok && !m.Bad
}

// line adds a line to the location whose first one is from.
func (t *tables) line(body []byte, from int32) (ok bool) {
	if len(t.lines)-int(from) == maxInline || len(t.lines) == math.MaxInt32 {
		return false
	}
	var n protobuf.Numbers
	ok = n.Read(body)
	t.lines = append(t.lines, line{n[profileproto.LineFunction], lineOf(n[profileproto.LineNumber])})
	return ok
}

// bytes is the approximate memory of t.
func (t *tables) bytes() int64 {
	return t.texts.bytes() + 40*int64(cap(t.mappings.rows)) + 32*int64(cap(t.functions.rows)) + 24*int64(cap(t.locations.rows)) + 16*int64(cap(t.lines)) +
		4*int64(cap(t.functions.dense)+cap(t.locations.dense)) + 48*int64(len(t.functions.sparse)+len(t.locations.sparse)+len(t.mappings.sparse))
}

// texts is the string table of a file.
type texts struct {
	data []byte   // of all strings, or the file itself if held
	at   []extent // in data
	held bool
}

const maxTexts = math.MaxInt32

// add adds a string that ends at an offset of the file.
func (t *texts) add(s []byte, end int64) error {
	if t.held {
		t.at = append(t.at, extent{uint32(end) - uint32(len(s)), uint32(end)})
		return nil
	}
	if len(t.data)+len(s) > maxTexts {
		return fmt.Errorf("%w: strings of more than %d bytes", damage.ErrTooBig, maxTexts)
	}
	from := len(t.data)
	t.data = append(t.data, s...)
	t.at = append(t.at, extent{uint32(from), uint32(len(t.data))})
	return nil
}

// get returns a string, if it exists. The bytes are the table's.
func (t *texts) get(n uint64) (s []byte, ok bool) {
	if n >= uint64(len(t.at)) {
		return nil, false
	}
	return t.data[t.at[n].from:t.at[n].to], true
}

// text is a copy of a string; "" if it does not exist.
func (t *texts) text(n uint64) string {
	s, _ := t.get(n)
	return string(s)
}

// bytes is the approximate memory of t.
func (t *texts) bytes() int64 {
	n := 8 * int64(cap(t.at))
	if !t.held {
		n += int64(cap(t.data))
	}
	return n
}
