package recorder

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

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
	given Stack // that its markers have, unless it is none
	wires []rawformat.WireType

	// It fills two cache lines, at the borders of which the heap puts what is that
	// large: the program's own words, which it may store to, lie in others.
	_ [24]byte
}

// registry holds what was defined in this process: it is one for all, because
// events are package-level values, which exist before any recorder does and
// outlive each. Its records are written into every dictionary in this order;
// ids are therefore the same in all of them.
type registry struct {
	mu         sync.Mutex
	records    [][]byte
	categories map[[3]string]uint32
	events     uint32
	tracks     map[string]*Track
	counters   []*Counter
	labels     []labelName
	named      atomic.Pointer[[]labelName] // labels, for readers
}

var defined = registry{categories: map[[3]string]uint32{}, tracks: map[string]*Track{}}

// EventOption is a property of an event.
type EventOption func(*eventSpec)

type eventSpec struct {
	name                  string
	category              [3]string // name, color, part
	display               Location
	chart, tooltip, table string
	stack                 bool
	flags                 rawformat.EventFlag
	description           string
	fields                []fieldSpec
}

// Location is a set of places where front ends show an event.
type Location = rawformat.Location

// Places of [Display].
const (
	InChart    Location = rawformat.ShowChart    // marker chart
	InTable    Location = rawformat.ShowTable    // marker table
	InTimeline Location = rawformat.ShowTimeline // overview of the track
	InMemory   Location = rawformat.ShowMemory   // memory timeline
	InIPC      Location = rawformat.ShowIPC
	InFileIO   Location = rawformat.ShowFileIO
	InStack    Location = rawformat.ShowStack // stack chart
)

// Category groups events. The colours are Firefox Profiler's: transparent,
// purple, green, orange, yellow, lightblue, blue, brown, magenta, red,
// lightred, darkgrey and grey.
func Category(name, color string) EventOption {
	return func(e *eventSpec) { e.category[0], e.category[1] = name, color }
}

// Subcategory names a part of the category, which front ends show beside it.
// Without [Category] it does nothing.
func Subcategory(name string) EventOption { return func(e *eventSpec) { e.category[2] = name } }

// Display says where the event is shown. Without it: chart and table.
func Display(places Location) EventOption { return func(e *eventSpec) { e.display = places } }

// ChartLabel, TooltipLabel and TableLabel are templates of Firefox Profiler's
// marker schema, such as "{marker.name} {marker.data.file}".
func ChartLabel(template string) EventOption { return func(e *eventSpec) { e.chart = template } }

// TooltipLabel: see [ChartLabel].
func TooltipLabel(template string) EventOption { return func(e *eventSpec) { e.tooltip = template } }

// TableLabel: see [ChartLabel].
func TableLabel(template string) EventOption { return func(e *eventSpec) { e.table = template } }

// Description says what the event is, in a sentence or two for who looks at its
// markers.
func Description(text string) EventOption { return func(e *eventSpec) { e.description = text } }

// Nested says that intervals of the event never overlap in part on one track: they
// lie beside or in each other, as calls do, and may be drawn like that.
func Nested() EventOption { return func(e *eventSpec) { e.flags |= rawformat.EventNested } }

// WithStack records where the event was marked. A stack that was seen before
// costs some tens of ns, a new one some µs, because it is written out.
func WithStack() EventOption { return func(e *eventSpec) { e.stack = true } }

func newEvent(name string, opts []EventOption, fields ...fieldSpec) handle {
	e := eventSpec{name: name, display: InChart | InTable, fields: fields}
	for _, o := range opts {
		o(&e)
	}
	defined.mu.Lock()
	defer defined.mu.Unlock()
	return handle{d: defined.event(&e)}
}

// event adds the records of e; the lock is held.
func (g *registry) event(e *eventSpec) *definition {
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

// publish writes the records that the running recorder does not have yet.
func (g *registry) publish() {
	if r := running.Load(); r != nil {
		r.define(g.records)
	}
}

// lose counts a definition for which there is no room.
func (g *registry) lose() {
	if r := running.Load(); r != nil {
		r.lose(rawformat.LostDictionary, 1, 0)
	}
}
