package decode

import (
	"slices"
	"strconv"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

// dictionary resolves the ids of one generation of one process.
type dictionary struct {
	process    stream.ProcessID
	names      *Names
	strings    map[uint64]string
	categories map[uint64]stream.CategoryID
	events     map[uint64]*event
	tracks     map[uint64]string
	counters   map[uint64]stream.CounterID
	modules    map[uint64]module
	mapped     []module // as defined; of two at one address the later counts
	frames     map[uint64]frame
	stacks     map[uint64]stack
	resolved   map[uint64]stream.StackID
	malformed  int64
}

type module struct {
	id                 stream.ModuleID
	start, end, offset uint64
}

type frame struct {
	at    address
	label stream.FrameID // instead of at, if set
}

type stack struct{ parent, frame uint64 }

// event is a definition and, once used, its interned form.
type event struct {
	def       stream.Event
	id        stream.EventID
	undefined bool // stands for a definition that is missing
}

func newDictionary(p stream.ProcessID, n *Names) *dictionary {
	return &dictionary{process: p, names: n,
		strings: map[uint64]string{}, categories: map[uint64]stream.CategoryID{}, events: map[uint64]*event{},
		tracks: map[uint64]string{}, counters: map[uint64]stream.CounterID{}, modules: map[uint64]module{},
		frames: map[uint64]frame{}, stacks: map[uint64]stack{}, resolved: map[uint64]stream.StackID{}}
}

// definitions is the table of dictionary records.
var definitions = [256]func(*dictionary, *rawformat.Cursor){
	rawformat.KindDefString:   (*dictionary).defString,
	rawformat.KindDefCategory: (*dictionary).defCategory,
	rawformat.KindDefEvent:    (*dictionary).defEvent,
	rawformat.KindDefField:    (*dictionary).defField,
	rawformat.KindDefTrack:    (*dictionary).defTrack,
	rawformat.KindDefCounter:  (*dictionary).defCounter,
	rawformat.KindDefModule:   (*dictionary).defModule,
	rawformat.KindDefFrame:    (*dictionary).defFrame,
	rawformat.KindDefLabel:    (*dictionary).defLabel,
	rawformat.KindDefStack:    (*dictionary).defStack,
	rawformat.KindDefSymbol:   (*dictionary).defSymbol,
}

// load reads the records of a dictionary file. A record that does not parse is
// counted; one of an unknown kind is none of this version's business.
func (d *dictionary) load(records []chunks.Record) {
	for _, r := range records {
		define := definitions[r.Kind]
		if define == nil {
			continue
		}
		c := rawformat.NewCursor(r.Body, r.Off)
		if define(d, &c); c.Err() != nil {
			d.malformed++
		}
	}
}

func (d *dictionary) defString(c *rawformat.Cursor) {
	id, text := c.Uint("id"), c.Text("text")
	if c.Err() == nil {
		d.strings[id] = string(text)
	}
}

func (d *dictionary) defCategory(c *rawformat.Cursor) {
	id, name, color := c.Uint("id"), c.Text("name"), c.Text("color")
	if c.Err() == nil {
		d.categories[id] = d.names.category(stream.Category{Name: string(name), Color: string(color)})
	}
}

func (d *dictionary) defEvent(c *rawformat.Cursor) {
	id, category := c.Uint("id"), c.Uint("category")
	e := &event{def: stream.Event{Category: d.categories[category]}}
	e.def.Name = string(c.Text("name"))
	e.def.Display = stream.Location(c.Uint("display"))
	e.def.Chart, e.def.Tooltip, e.def.Table = string(c.Text("chart")), string(c.Text("tooltip")), string(c.Text("table"))
	if c.Err() == nil {
		d.events[id] = e
	}
}

func (d *dictionary) defField(c *rawformat.Cursor) {
	event, position := c.Uint("event"), c.Uint("position")
	f := stream.EventField{Name: string(c.Text("name")), Label: string(c.Text("label"))}
	f.Type = fieldType(c.Uint("wire"))
	f.Format = format(c.Uint("format"))
	f.Privacy = stream.Privacy(min(c.Uint("privacy"), uint64(stream.PrivacySecret)))
	flags := rawformat.FieldFlag(c.Uint("flags"))
	f.Searchable, f.Hidden = flags&rawformat.FieldSearchable != 0, flags&rawformat.FieldHidden != 0
	e := d.events[event]
	if c.Err() != nil || e == nil || position >= rawformat.MaxArgs {
		return
	}
	for len(e.def.Fields) <= int(position) {
		e.def.Fields = append(e.def.Fields, opaqueField(len(e.def.Fields), stream.Null))
	}
	e.def.Fields[position] = f
}

// opaqueField stands for a field whose definition is missing.
func opaqueField(position int, t stream.Type) stream.EventField {
	f := stream.EventField{Name: "arg" + strconv.Itoa(position), Type: t, Format: stream.FormatInteger}
	switch t {
	case stream.Float:
		f.Format = stream.FormatDecimal
	case stream.Text:
		f.Format = stream.FormatText
	}
	return f
}

func fieldType(wire uint64) stream.Type {
	switch rawformat.WireType(wire & 3) {
	case rawformat.WireSint:
		return stream.Int
	case rawformat.WireUint:
		return stream.Uint
	case rawformat.WireFloat:
		return stream.Float
	}
	return stream.Text
}

// format maps the numbers of the wire to those of the waist, which are the
// same; a later version's format is shown as an integer.
func format(f uint64) stream.Format {
	if f >= uint64(stream.NumFormats) {
		return stream.FormatInteger
	}
	return stream.Format(f)
}

func (d *dictionary) defTrack(c *rawformat.Cursor) {
	id, name := c.Uint("id"), c.Text("name")
	if c.Err() == nil {
		d.tracks[id] = string(name)
	}
}

func (d *dictionary) defCounter(c *rawformat.Cursor) {
	id := c.Uint("id")
	k := stream.Counter{Process: d.process, Name: string(c.Text("name")), Category: string(c.Text("category")), Description: string(c.Text("description"))}
	k.Unit = format(c.Uint("unit"))
	k.Total = rawformat.CounterMode(c.Uint("mode")) == rawformat.CounterTotal
	if c.Err() == nil {
		d.counters[id] = d.names.tables.Counters.Intern(k)
	}
}

func (d *dictionary) defModule(c *rawformat.Cursor) {
	id, path, build := c.Uint("id"), c.Text("path"), c.Text("build")
	m := module{start: c.Fixed("start"), end: c.Fixed("end"), offset: c.Fixed("offset")}
	if c.Err() == nil {
		m.id = d.names.module(string(build), string(path))
		d.modules[id] = m
		d.mapped = append(d.mapped, m)
	}
}

func (d *dictionary) defFrame(c *rawformat.Cursor) {
	id, mod, offset := c.Uint("id"), c.Uint("module"), c.Uint("offset")
	if c.Err() != nil {
		return
	}
	m, defined := d.modules[mod]
	if mod != 0 && !defined {
		d.malformed++ // an offset in an unknown file says nothing
		return
	}
	d.frames[id] = frame{at: d.place(m, offset+m.offset)}
}

// place is an address in a module, or of the process if there is none.
func (d *dictionary) place(m module, offset uint64) address {
	if m.id == 0 {
		return address{process: d.process, offset: offset}
	}
	return address{module: m.id, offset: offset}
}

func (d *dictionary) defLabel(c *rawformat.Cursor) {
	id, category, name := c.Uint("id"), c.Uint("category"), c.Text("name")
	if c.Err() == nil {
		d.frames[id] = frame{label: d.names.label(string(name), d.categories[category])}
	}
}

func (d *dictionary) defStack(c *rawformat.Cursor) {
	id, parent, frame := c.Uint("id"), c.Uint("parent"), c.Uint("frame")
	if c.Err() == nil {
		d.stacks[id] = stack{parent, frame}
	}
}

func (d *dictionary) defSymbol(c *rawformat.Cursor) {
	id, depth, function, file, line := c.Uint("frame"), c.Uint("depth"), c.Uint("function"), c.Uint("file"), c.Uint("line")
	f, ok := d.frames[id]
	if c.Err() == nil && ok && f.label == 0 && depth < rawformat.MaxStack {
		d.names.define(f.at, int(depth), symbol{d.strings[function], d.strings[file], int32(min(line, 1<<31-1))})
	}
}

// stackID resolves a stack of the dictionary; ok is false if a definition on
// its way to the root is missing, or if it has no end.
func (d *dictionary) stackID(id uint64) (sid stream.StackID, ok bool) {
	var path []uint64 // ids not resolved yet, leaf first
	for id != 0 {
		if done, hit := d.resolved[id]; hit {
			sid = done
			break
		}
		node, defined := d.stacks[id]
		if !defined || len(path) >= rawformat.MaxStack {
			return 0, false
		}
		path = append(path, id)
		id = node.parent
	}
	for i := len(path) - 1; i >= 0; i-- {
		f, defined := d.frames[d.stacks[path[i]].frame]
		if !defined {
			return 0, false
		}
		sid = d.push(sid, f)
		d.resolved[path[i]] = sid
	}
	return sid, true
}

// push returns the stack of parent and the functions at one more frame.
func (d *dictionary) push(parent stream.StackID, f frame) stream.StackID {
	if f.label != 0 {
		return d.names.tables.Stacks.Intern(parent, f.label)
	}
	for _, id := range d.names.frames(f.at) {
		parent = d.names.tables.Stacks.Intern(parent, id)
	}
	return parent
}

// rawStack is the stack of pcs, leaf first.
func (d *dictionary) rawStack(pcs []uint64) (sid stream.StackID) {
	for i := len(pcs) - 1; i >= 0; i-- {
		sid = d.push(sid, frame{at: d.find(pcs[i])})
	}
	return sid
}

// find is the address of a pc.
func (d *dictionary) find(pc uint64) address {
	for _, m := range slices.Backward(d.mapped) {
		if m.start <= pc && pc < m.end {
			return d.place(m, pc-m.start+m.offset)
		}
	}
	return d.place(module{}, pc)
}

// event returns the interned event with that id, or one that stands for it when
// its definition is missing.
func (d *dictionary) event(id uint64, args []rawformat.Arg) *event {
	e := d.events[id]
	if e == nil {
		e = undefinedEvent(id, args)
		d.events[id] = e
	}
	if e.id == 0 {
		e.id = d.names.tables.AddEvent(e.def)
	}
	return e
}

func undefinedEvent(id uint64, args []rawformat.Arg) *event {
	e := &event{undefined: true}
	e.def = stream.Event{Name: "event " + strconv.FormatUint(id, 10), Display: stream.ShowChart | stream.ShowTable}
	for i, a := range args {
		e.def.Fields = append(e.def.Fields, opaqueField(i, fieldType(uint64(a.Wire))))
	}
	return e
}
