package registry

import (
	"encoding/binary"

	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

// Definition is what a marker needs of its event. It never changes.
type Definition struct {
	// For the fast path, each within reach of one load:
	Head          uint64 // the block's first bytes: length 0, kind 0, event, stack 0
	Shape         uint64 // of wires
	BehindTime    uint64 // shape, behind a time of two bytes
	PlainSeq      uint32 // Seq if the event is plain, else more than any
	HeadLen       uint8  // of head
	Fields        uint8  // len(wires)
	First, Second Holding

	Plain bool // at most two numbers and no stack: the fast path can write it
	Stack bool
	Seq   uint32 // number of its last record in the registry
	ID    uint32
	Watch *Watch  // of all events of that name; intervals read it
	Given Callers // the stack of its markers, unless it is the zero one
	Wires []rawformat.WireType
	spec  *EventSpec

	// The size is two cache lines, and the heap aligns objects of that size to them, so that
	// the lines have no words of the program, which it may store to.
	_ [8]byte
}

// Callers is a stack of a goroutine that was captured before. The zero value has no calls.
type Callers struct {
	Calls  []uintptr // nil only in the zero value
	Walked bool      // by frame pointers
}

// From returns the definition for markers with that stack.
func (d *Definition) From(s Callers) *Definition {
	if d == nil || s.Calls == nil {
		return d
	}
	given := d.WithStack()
	given.Given = s
	return given
}

// WithStack returns the definition for markers with a stack.
func (d *Definition) WithStack() *Definition {
	stacked := *d
	stacked.Stack, stacked.Plain, stacked.PlainSeq = true, false, ^uint32(0)
	return &stacked
}

// EventSpec is the full description of an event.
type EventSpec struct {
	Name, Type            string    // "": a type of its own
	Category              [3]string // name, color, part
	Display               rawformat.Location
	Chart, Tooltip, Table string
	Stack                 bool
	Flags                 rawformat.EventFlag
	Description           string
	Fields                []FieldSpec
}

// FieldSpec is the full description of a field.
type FieldSpec struct {
	Name, Label string
	Wire        rawformat.WireType
	Size        uintptr // of a value in memory
	Unit        rawformat.Format
	Privacy     rawformat.Privacy
	Flags       rawformat.FieldFlag
	FieldGraph  FieldGraph
}

// FieldGraph is the graph of a field's numbers.
type FieldGraph struct {
	Wanted bool
	Shape  rawformat.GraphShape
	Color  string
}

// Holding is how a value of a field is stored, in memory and on the wire.
type Holding uint8

const (
	HoldsInt   Holding = iota // 8 bytes, written as S
	HoldsUint                 // 8 bytes, written as U
	HoldsFloat                // 8 bytes, written as they are
	HoldsText
	HoldsBool  // a byte, written as U
	HoldsShort // 4 bytes, written as S: an int of a small machine
)

func (f *FieldSpec) holding() Holding {
	switch {
	case f.Wire == rawformat.WireText:
		return HoldsText
	case f.Wire == rawformat.WireFloat:
		return HoldsFloat
	case f.Size == 1:
		return HoldsBool
	case f.Size == 4:
		return HoldsShort
	case f.Wire == rawformat.WireUint:
		return HoldsUint
	}
	return HoldsInt
}

// Event defines an event.
func (g *registry) Event(e *EventSpec) *Definition {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.addEvent(e)
}

func (g *registry) addEvent(e *EventSpec) *Definition {
	category := g.category(e.Category)
	g.events++
	id := uint64(g.events)
	g.record(record.New(rawformat.KindDefEvent).Uint(id).Uint(uint64(category)).Text(e.Name).
		Uint(uint64(e.Display)).Text(e.Chart).Text(e.Tooltip).Text(e.Table))
	g.show(id, e)
	for i, f := range e.Fields {
		g.record(record.New(rawformat.KindDefField).Uint(id).Uint(uint64(i)).Text(f.Name).Text(f.Label).
			Uint(uint64(f.Wire)).Uint(uint64(f.Unit)).Uint(uint64(f.Privacy)).Uint(uint64(f.Flags)))
	}
	g.publish()
	return newDefinition(uint32(id), uint32(len(g.records)), e, g.watch(e.Name))
}

// show adds the records that say how e is shown, if that is not the default.
func (g *registry) show(id uint64, e *EventSpec) {
	if e.Flags != 0 || e.Description != "" || e.Type != "" {
		g.defineShow(id, e)
	}
	for i, f := range e.Fields {
		if f.FieldGraph.Wanted && f.Wire != rawformat.WireText {
			g.record(record.New(rawformat.KindDefGraph).Uint(id).Uint(uint64(i)).Uint(uint64(f.FieldGraph.Shape)).Text(f.FieldGraph.Color))
		}
	}
}

func (g *registry) defineShow(id uint64, e *EventSpec) {
	g.record(record.New(rawformat.KindDefShow).Uint(id).Uint(uint64(e.Flags)).Text(e.Description).Text(e.Type))
}

func newDefinition(id, seq uint32, e *EventSpec, w *Watch) *Definition {
	d := &Definition{Seq: seq, ID: id, spec: e, Watch: w, Stack: e.Stack, Plain: len(e.Fields) <= 2 && !e.Stack}
	for _, f := range e.Fields {
		d.Wires = append(d.Wires, f.Wire)
		d.Plain = d.Plain && f.Wire != rawformat.WireText
	}
	d.Shape = rawformat.Shape(d.Wires...)
	d.BehindTime = d.Shape << 16
	d.Fields = uint8(len(d.Wires))
	d.settle(e.Fields)
	var head [8]byte
	d.HeadLen = uint8(len(append(rawformat.AppendUint(head[:2], uint64(id)), 0)))
	d.Head = binary.LittleEndian.Uint64(head[:])
	return d
}

// settle computes what the fast path needs to know about the fields.
func (d *Definition) settle(fields []FieldSpec) {
	if d.PlainSeq = d.Seq; !d.Plain {
		d.PlainSeq = ^uint32(0)
	}
	for i, f := range fields[:min(2, len(fields))] {
		*[...]*Holding{&d.First, &d.Second}[i] = f.holding()
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
