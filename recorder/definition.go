package recorder

import (
	"encoding/binary"
	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

// definition is what marking an event needs of it. It never changes.
type definition struct {
	// For the fast path, each within reach of one load:
	head          uint64 // the block's first bytes: length 0, kind 0, event, stack 0
	shape         uint64 // of wires
	behindTime    uint64 // shape, behind a time of two bytes
	plainSeq      uint32 // seq, if it is plain, else more than any
	headLen       uint8  // of head
	fields        uint8  // len(wires)
	first, second holding

	plain bool // at most two numbers and no stack: the fast path can write it
	stack bool
	seq   uint32 // of its last record in the registry
	id    uint32
	given callers // that its markers have, unless it is none
	wires []rawformat.WireType

	// It fills two cache lines, at the borders of which the heap puts what is that
	// large: the program's own words, which it may store to, lie in others.
	_ [24]byte
}

// callers is the stack of a goroutine, captured before. The zero callers are those of
// nothing.
type callers struct {
	calls  []uintptr // never nil but for nothing
	walked bool      // by frame pointers
}

// from is the same definition, of markers with that stack.
func (d *definition) from(s callers) *definition {
	if d == nil || s.calls == nil {
		return d
	}
	given := *d
	given.given, given.stack, given.plain, given.plainSeq = s, true, false, ^uint32(0)
	return &given
}

// eventSpec says all of an event.
type eventSpec struct {
	name                  string
	category              [3]string // name, color, part
	display               rawformat.Location
	chart, tooltip, table string
	stack                 bool
	flags                 rawformat.EventFlag
	description           string
	fields                []fieldSpec
}

// fieldSpec says all of a field.
type fieldSpec struct {
	name, label string
	wire        rawformat.WireType
	size        uintptr // of a value in memory
	unit        rawformat.Format
	privacy     rawformat.Privacy
	flags       rawformat.FieldFlag
	graph       graph
}

// graph is that of a field's numbers.
type graph struct {
	wanted bool
	shape  rawformat.GraphShape
	color  string
}

// holding is how a value of a field lies in memory, and on the wire.
type holding uint8

const (
	holdsInt   holding = iota // 8 bytes, written as S
	holdsUint                 // 8 bytes, written as U
	holdsFloat                // 8 bytes, written as they are
	holdsText
	holdsBool  // a byte, written as U
	holdsShort // 4 bytes, written as S: an int of a small machine
)

func (f *fieldSpec) holding() holding {
	switch {
	case f.wire == rawformat.WireText:
		return holdsText
	case f.wire == rawformat.WireFloat:
		return holdsFloat
	case f.size == 1:
		return holdsBool
	case f.size == 4:
		return holdsShort
	case f.wire == rawformat.WireUint:
		return holdsUint
	}
	return holdsInt
}

// event defines an event.
func (g *registry) event(e *eventSpec) *definition {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.addEvent(e)
}

func (g *registry) addEvent(e *eventSpec) *definition {
	category := g.category(e.category)
	g.events++
	id := uint64(g.events)
	g.record(record.New(rawformat.KindDefEvent).Uint(id).Uint(uint64(category)).Text(e.name).
		Uint(uint64(e.display)).Text(e.chart).Text(e.tooltip).Text(e.table))
	g.show(id, e)
	for i, f := range e.fields {
		g.record(record.New(rawformat.KindDefField).Uint(id).Uint(uint64(i)).Text(f.name).Text(f.label).
			Uint(uint64(f.wire)).Uint(uint64(f.unit)).Uint(uint64(f.privacy)).Uint(uint64(f.flags)))
	}
	g.publish()
	return newDefinition(uint32(id), uint32(len(g.records)), e)
}

// show adds the records of how e is shown, if that is not as most are.
func (g *registry) show(id uint64, e *eventSpec) {
	if e.flags != 0 || e.description != "" {
		g.record(record.New(rawformat.KindDefShow).Uint(id).Uint(uint64(e.flags)).Text(e.description))
	}
	for i, f := range e.fields {
		if f.graph.wanted && f.wire != rawformat.WireText {
			g.record(record.New(rawformat.KindDefGraph).Uint(id).Uint(uint64(i)).Uint(uint64(f.graph.shape)).Text(f.graph.color))
		}
	}
}

func newDefinition(id, seq uint32, e *eventSpec) *definition {
	d := &definition{seq: seq, id: id, stack: e.stack, plain: len(e.fields) <= 2 && !e.stack}
	for _, f := range e.fields {
		d.wires = append(d.wires, f.wire)
		d.plain = d.plain && f.wire != rawformat.WireText
	}
	d.shape = rawformat.Shape(d.wires...)
	d.behindTime = d.shape << 16
	d.fields = uint8(len(d.wires))
	d.settle(e.fields)
	var head [8]byte
	d.headLen = uint8(len(append(rawformat.AppendUint(head[:2], uint64(id)), 0)))
	d.head = binary.LittleEndian.Uint64(head[:])
	return d
}

// settle says what the fast path has to know of the fields.
func (d *definition) settle(fields []fieldSpec) {
	if d.plainSeq = d.seq; !d.plain {
		d.plainSeq = ^uint32(0)
	}
	for i, f := range fields[:min(2, len(fields))] {
		*[...]*holding{&d.first, &d.second}[i] = f.holding()
	}
}

func (g *registry) category(key [3]string) uint32 {
	if key[0] == "" {
		return 0
	}
	id, ok := g.categories[key]
	if !ok {
		id = uint32(len(g.categories) + 1)
		g.categories[key] = id
		g.record(record.New(rawformat.KindDefCategory).Uint(uint64(id)).Text(key[0]).Text(key[1]).Text(key[2]))
	}
	return id
}

func (g *registry) record(b record.Body) { g.records = append(g.records, b) }
