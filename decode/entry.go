package decode

import (
	"encoding/binary"

	"gprof/rawformat"
	"gprof/stream"
)

// maxInts is the most integers of a kind before its tail.
const maxInts = 9

// intBytes is how far integers that are loaded 8 bytes at a time reach at most, which is less than
// rawformat.Slack.
const intBytes = 8*maxInts + 8

// entry is a parsed entry, or record of a dictionary.
type entry struct {
	v    [maxInts]uint64 // its integers, in the order of the table of kinds; of S and T the zigzag form
	at   stream.Time     // the moment of its T, if it has one
	text []byte          // its tail, if a text; valid like the bytes it was read from
	args []arg           // its tail, if arguments; in room
	pcs  []uint64        // its tail, if pcs

	texts  []byte // texts of args
	room   [rawformat.MaxArgs]arg
	strict []rawformat.Arg // for readStrictly
	copied []byte          // for readStrictly: texts
}

// arg is an argument: the bits of a number, or a text's place in texts.
type arg struct {
	num  uint64
	wire rawformat.WireType
}

func textArg(at, size int) uint64 { return uint64(at)<<32 | uint64(size) }

// textOf is the text of an argument.
func (e *entry) textOf(a *arg) []byte {
	at, size := a.num>>32, a.num&(1<<32-1)
	return e.texts[at : at+size]
}

// layout is the fields of a kind: integers, and for some kinds something else after them.
type layout struct {
	ints    int
	time    int    // which of them is a T or C, -1 none
	unit    uint64 // of that, in ticks
	hasTail bool
	tail    rawformat.FieldType
}

// layouts are derived from the table of kinds.
var layouts = func() (all [256]layout) {
	for k := range all {
		all[k] = layoutOf(rawformat.Kinds[k].Fields)
	}
	return all
}()

// irregular is the layout of kinds that only the cursor reads.
var irregular = layout{time: -1, hasTail: true, tail: rawformat.Fixed}

func layoutOf(fields []rawformat.Field) layout {
	l := layout{time: -1}
	for i, f := range fields {
		if l.hasTail || l.ints == maxInts || f.Type == rawformat.Fixed {
			return irregular
		}
		switch f.Type {
		case rawformat.Uint, rawformat.Sint:
			l.ints++
		case rawformat.Time, rawformat.Coarse:
			l.ints, l.time, l.unit = l.ints+1, i, f.Type.TimeUnit()
		default:
			l.hasTail, l.tail = true, f.Type
		}
	}
	return l
}

// read parses the fields from at to end. data continues for [rawformat.Slack] bytes: integers are
// loaded unchecked, and only then is the end checked. It returns false if they exceed it, and for
// anything unusual, which [entry.readStrictly] then decides.
func (e *entry) read(l *layout, data []byte, at, end int) bool {
	ints := (*[intBytes]byte)(data[at:])
	n := uint(0)
	for i := range e.v[:l.ints] {
		if n > intBytes-8 {
			return false // never, and so the load below needs no check
		}
		// Of short integers branches tell the length, because they are predicted: the processor
		// goes on with the next integer before it knows this one. Longer ones are mostly times,
		// whose lengths it would guess wrong too often.
		switch x := binary.LittleEndian.Uint64(ints[n : n+8]); {
		case x&0x80 == 0:
			e.v[i] = x & 0x7f
			n++
		case x&0x8000 == 0:
			e.v[i] = x&0x7f | x>>1&0x3f80
			n += 2
		default:
			v, size := rawformat.WordUint(x)
			if size == 0 {
				return false
			}
			e.v[i] = v
			n += uint(size)
		}
	}
	at += int(n)
	if at > end {
		return false
	}
	switch {
	case !l.hasTail:
		return true
	case l.tail == rawformat.ArgSet:
		return e.readArgs(data, at, end)
	case l.tail == rawformat.Text && at < end:
		return e.readText(data, at, end)
	}
	return false
}

// readText is read for a text.
func (e *entry) readText(data []byte, at, end int) bool {
	size, n := quick(data, at)
	if at += n; n == 0 || at > end || size > uint64(end-at) {
		return false
	}
	e.text = data[at : at+int(size)]
	return true
}

// readArgs is read for arguments.
func (e *entry) readArgs(data []byte, at, end int) bool {
	if at >= end {
		return false
	}
	shape, n := quick(data, at)
	if n == 0 || shape == 0 || shape>>(2*rawformat.MaxArgs+1) != 0 {
		return false
	}
	at += n
	e.texts = data
	i := 0
	for ; shape > 3; shape >>= 2 {
		if at >= end {
			return false
		}
		a := &e.room[i&(rawformat.MaxArgs-1)]
		i++
		a.wire = rawformat.WireType(shape & 3)
		if a.wire == rawformat.WireFloat {
			a.num = binary.LittleEndian.Uint64(data[at:])
			at += 8
			continue
		}
		v, n := quick(data, at)
		if n == 0 {
			return false
		}
		at += n
		switch a.wire {
		case rawformat.WireSint:
			v = uint64(rawformat.Unzigzag(v))
		case rawformat.WireText:
			if at > end || v > uint64(end-at) {
				return false
			}
			v, at = textArg(at, int(v)), at+int(v)
		}
		a.num = v
	}
	e.args = e.room[:i]
	return shape == 1 && at <= end
}

// quick reads an integer of up to eight bytes; n is 0 if it is longer.
func quick(data []byte, at int) (v uint64, n int) {
	if x := data[at]; x < 0x80 {
		return uint64(x), 1
	}
	return rawformat.WordUint(binary.LittleEndian.Uint64(data[at:]))
}

// readStrictly parses the fields by a cursor. With an error, parsed is how many integers came
// before it.
func (e *entry) readStrictly(k rawformat.Kind, c *rawformat.Cursor) (parsed int, err error) {
	l := &layouts[k]
	fields := rawformat.Kinds[k].Fields
	for i := range l.ints {
		if e.v[i] = c.Uint(fields[i].Name); c.Err() != nil {
			return i, c.Err()
		}
	}
	if l.hasTail {
		name := fields[l.ints].Name
		switch l.tail {
		case rawformat.Text:
			e.text = c.Text(name)
		case rawformat.ArgSet:
			e.strict = c.Args(e.strict[:0], name)
			e.takeArgs()
		case rawformat.PCs:
			e.pcs = c.PCs(e.pcs[:0], name)
		}
	}
	return l.ints, c.Err()
}

// takeArgs converts the cursor's arguments.
func (e *entry) takeArgs() {
	e.copied = e.copied[:0]
	e.args = e.room[:len(e.strict)]
	for i, a := range e.strict {
		e.args[i] = arg{a.Num, a.Wire}
		if a.Wire == rawformat.WireText {
			e.args[i].num = textArg(len(e.copied), len(a.Text))
			e.copied = append(e.copied, a.Text...)
		}
	}
	e.texts = e.copied
}
