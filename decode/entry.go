package decode

import (
	"encoding/binary"

	"gprof/rawformat"
	"gprof/stream"
)

// maxInts is the most integers that a kind has before its tail.
const maxInts = 8

// entry is one entry, or one record of a dictionary, taken apart.
type entry struct {
	v    [maxInts]uint64 // its integers, in the order of the table of kinds; of S and T the zig-zag form
	at   stream.Time     // the moment of its T, if it has one
	text []byte          // its tail, if that is a text; valid like the bytes it was read from
	args []rawformat.Arg // likewise
	pcs  []uint64        // likewise

	textAt int // where text lies, from the first field on
}

// layout is how the fields of a kind lie: integers first, and then, with some
// kinds, something else.
type layout struct {
	ints    int
	time    int // which of them is a T, -1: none
	hasTail bool
	tail    rawformat.FieldType
}

// layouts are made from the table of kinds.
var layouts = func() (all [256]layout) {
	for k := range all {
		all[k] = layoutOf(rawformat.Kinds[k].Fields)
	}
	return all
}()

// irregular is the layout of kinds that are read with a cursor alone.
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
		case rawformat.Time:
			l.ints, l.time = l.ints+1, i
		default:
			l.hasTail, l.tail = true, f.Type
		}
	}
	return l
}

// read takes the fields from at to end apart. data goes on for [rawformat.Slack]
// bytes behind end: integers are loaded without a look at it, and only then is
// it checked that they end before it. It returns false when they do not, and for
// all that is out of the common; [entry.readStrictly] then has the last word.
func (e *entry) read(l *layout, data []byte, at, end int) bool {
	start := at
	for i := 0; i < l.ints; i++ {
		if x := data[at]; x < 0x80 {
			e.v[i] = uint64(x)
			at++
			continue
		}
		v, n := rawformat.WordUint(binary.LittleEndian.Uint64(data[at:]))
		if n == 0 {
			return false
		}
		e.v[i] = v
		at += n
	}
	if at > end {
		return false
	}
	switch {
	case !l.hasTail:
		return true
	case l.tail == rawformat.ArgSet:
		return e.readArgs(data, at, end)
	case l.tail == rawformat.Text && at < end:
		return e.readText(data, start, at, end)
	}
	return false
}

// readText is the part of read for a text.
func (e *entry) readText(data []byte, start, at, end int) bool {
	size, n := uint64(data[at]), 1
	if size >= 0x80 {
		if size, n = rawformat.WordUint(binary.LittleEndian.Uint64(data[at:])); n == 0 {
			return false
		}
	}
	if at += n; at > end || size > uint64(end-at) {
		return false
	}
	e.text, e.textAt = data[at:at+int(size)], at-start
	return true
}

// readArgs is the part of read for arguments.
func (e *entry) readArgs(data []byte, at, end int) bool {
	e.args = e.args[:0]
	if at == end || data[at] >= 0x80 {
		return false
	}
	shape := data[at]
	at++
	for ; shape > 1; shape >>= 2 {
		wire := rawformat.WireType(shape & 3)
		if shape < 4 || at >= end {
			return false
		}
		if wire == rawformat.WireFloat {
			e.args = append(e.args, rawformat.Arg{Wire: wire, Num: binary.LittleEndian.Uint64(data[at:])})
			at += 8
			continue
		}
		num, n := uint64(data[at]), 1
		if num >= 0x80 {
			if num, n = rawformat.WordUint(binary.LittleEndian.Uint64(data[at:])); n == 0 {
				return false
			}
		}
		at += n
		a := rawformat.Arg{Wire: wire, Num: num}
		switch wire {
		case rawformat.WireSint:
			a.Num = uint64(rawformat.Unzigzag(num))
		case rawformat.WireText:
			if at > end || num > uint64(end-at) {
				return false
			}
			a.Num, a.Text = 0, data[at:at+int(num)]
			at += int(num)
		}
		e.args = append(e.args, a)
	}
	return shape == 1 && at <= end
}

// readStrictly takes the fields apart with a cursor. With an error, parsed says
// how many of the integers came before it.
func (e *entry) readStrictly(k rawformat.Kind, c *rawformat.Cursor) (parsed int, err error) {
	l := &layouts[k]
	fields := rawformat.Kinds[k].Fields
	start := c.Offset()
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
			e.textAt = int(c.Offset()-start) - len(e.text)
		case rawformat.ArgSet:
			e.args = c.Args(e.args[:0], name)
		case rawformat.PCs:
			e.pcs = c.PCs(e.pcs[:0], name)
		}
	}
	return l.ints, c.Err()
}
