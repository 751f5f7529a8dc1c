package decode

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

// dictionary resolves the ids of one generation of a process. It is made in two steps: load parses
// the records, on any goroutine; link gives them ids of the tables, under their lock. Then it does
// not change, except for raw stacks.
type dictionary struct {
	process *process

	// Set by load. texts are those of the records, concatenated.
	texts      []byte // those of the records, one behind the other
	strings    ids[text]
	categories ids[category]
	events     ids[*event]
	tracks     ids[text]
	counters   ids[*counter]
	modules    ids[int32] // index in mapped, plus 1
	mapped     []mapping  // as defined; of two at one address the later counts
	frames     ids[frame]
	labels     []label
	stacks     ids[edge] // each becomes a stackLink in place
	labelSets  ids[labelEdge]
	symbols    symbols
	starts     map[start]int32   // first lines
	began      map[uint64]uint64 // names of root functions, as ids of strings, by address
	defined    []*event          // events by number
	malformed  int64

	// Of link.
	links
}

// text is the offset and length of one of the dictionary's texts. None begins at 0.
type text struct{ at, size uint32 }

type category struct{ name, color, sub text }

type counter struct {
	def stream.Counter
	id  stream.CounterID
}

// mapping is a mapped file.
type mapping struct {
	path, build        text
	start, end, offset uint64
	code               *code // set by link
}

// frame is an address in a module, or a label.
type frame struct {
	offset uint64
	module int32 // index in mapped, plus 1; 0: the offset is the pc
	label  int32 // index in labels, plus 1; 0: no label
	known  bool
}

type label struct {
	category uint64
	name     text
}

// edge is one frame more than its parent. Ids of a recorder are far below none, which stands for
// larger ones.
type edge struct{ parent, frame uint32 }

const none = math.MaxUint32

// labelEdge is one label more than its parent; key and value are ids of strings.
type labelEdge struct{ parent, key, value uint64 }

// start is a function whose first line a dictionary has.
type start struct{ function, file uint64 }

// event is a definition, and its number in its dictionary.
type event struct {
	def       stream.Event
	category  uint64
	id        stream.EventID
	number    int
	local     uint16 // fields whose numbers are unique within the process only, by bit
	moments   uint16 // fields of rawformat.FormatMoment, by bit
	colors    uint16 // fields with the color of a marker, by bit
	names     uint16 // fields with its name, by bit
	graphs    []graph
	undefined bool // stands for a missing definition
}

// graph is a graph of the field at a position.
type graph struct {
	position     uint64
	shape, color string
}

// definition handles a kind of record: regular kinds from a parsed entry, others by a cursor.
type definition struct {
	take func(*dictionary, *entry)
	read func(*dictionary, *rawformat.Cursor)
}

// definitions is the table of dictionary records.
var definitions = [256]definition{
	rawformat.KindDefString:   {take: (*dictionary).defString},
	rawformat.KindDefCategory: {read: (*dictionary).defCategory},
	rawformat.KindDefEvent:    {read: (*dictionary).defEvent},
	rawformat.KindDefField:    {read: (*dictionary).defField},
	rawformat.KindDefShow:     {read: (*dictionary).defShow},
	rawformat.KindDefGraph:    {read: (*dictionary).defGraph},
	rawformat.KindDefRoot:     {take: (*dictionary).defRoot},
	rawformat.KindDefTrack:    {read: (*dictionary).defTrack},
	rawformat.KindDefCounter:  {read: (*dictionary).defCounter},
	rawformat.KindDefModule:   {read: (*dictionary).defModule},
	rawformat.KindDefFrame:    {take: (*dictionary).defFrame},
	rawformat.KindDefLabel:    {read: (*dictionary).defLabel},
	rawformat.KindDefStack:    {take: (*dictionary).defStack},
	rawformat.KindDefSymbol:   {take: (*dictionary).defSymbol},
	rawformat.KindDefStart:    {take: (*dictionary).defStart},
	rawformat.KindDefLabelSet: {take: (*dictionary).defLabelSet},
}

// loader reads dictionary files one after the other, holding one.
type loader struct {
	jobs    int
	records chunks.Records
	sorted  chunks.Sorted
	string  sequence // of the next string, as of the next frame and stack
	frame   sequence
	stack   sequence
	largest int64 // bytes of the largest file
	entry   entry
	cursor  rawformat.Cursor // here to avoid an allocation for each record
}

// symbolBytes is about how many bytes a symbol takes.
const symbolBytes = 10

// load reads a file into d, which copies what it keeps. Malformed records are counted; unknown
// kinds are ignored.
func (l *loader) load(d *dictionary, file *chunks.Dict, report func(chunks.Problem)) {
	l.records.Reset(file, report)
	l.largest = max(l.largest, file.Size)
	d.strings.grow(l.records.Count(rawformat.KindDefString))
	d.frames.grow(l.records.Count(rawformat.KindDefFrame))
	d.stacks.grow(l.records.Count(rawformat.KindDefStack))
	d.symbols = grow(d.symbols, symbolBytes*l.records.Count(rawformat.KindDefSymbol))
	l.sorted.Class = classes
	l.string, l.frame, l.stack = sequenceFrom(1), sequenceFrom(1), sequenceFrom(1)
	if l.jobs > 1 && l.records.Count(rawformat.KindDefStack) >= manyStacks {
		l.takeApart(d)
	}
	for {
		for l.records.Sort(&l.sorted) {
			l.takeSorted(d)
		}
		if !l.records.Next() {
			return
		}
		l.takeAny(d, l.records.Record())
	}
}

func (l *loader) takeAny(d *dictionary, r *chunks.Record) {
	switch def := &definitions[r.Kind]; {
	case def.take != nil:
		l.take(d, def, r)
	case def.read != nil:
		l.cursor = r.Fields()
		if def.read(d, &l.cursor); l.cursor.Err() != nil {
			d.malformed++
		}
	}
}

func (l *loader) take(d *dictionary, def *definition, r *chunks.Record) {
	n := len(r.Body)
	if !l.entry.read(&layouts[r.Kind], r.Body[:n+rawformat.Slack], 0, n) {
		l.cursor = r.Fields()
		if _, err := l.entry.readStrictly(r.Kind, &l.cursor); err != nil {
			d.malformed++
			return
		}
	}
	def.take(d, &l.entry)
}

// text reads a text field and keeps it.
func (d *dictionary) text(c *rawformat.Cursor, name string) text { return d.keep(c.Text(name)) }

// keep copies a text: texts are a small part of a file.
func (d *dictionary) keep(b []byte) text {
	if len(d.texts) == 0 {
		d.texts = append(d.texts, 0)
	}
	at := len(d.texts)
	d.texts = append(d.texts, b...)
	return text{uint32(at), uint32(len(b))}
}

// bytes is a text within the dictionary.
func (d *dictionary) bytes(t text) []byte { return d.texts[t.at : t.at+t.size : t.at+t.size] }

// string is the string of an id, "" if undefined.
func (d *dictionary) string(id uint64) string { return string(d.bytes(d.strings.get(id))) }

func (d *dictionary) defString(e *entry) {
	d.strings.put(e.v[0], d.keep(e.text))
}

func (d *dictionary) defCategory(c *rawformat.Cursor) {
	id, k := c.Uint("id"), category{name: d.text(c, "name"), color: d.text(c, "color")}
	if c.Err() == nil && c.Len() > 0 { // the first recordings had no parts
		k.sub = d.text(c, "sub")
	}
	if c.Err() == nil {
		d.categories.put(id, k)
	}
}

func (d *dictionary) defEvent(c *rawformat.Cursor) {
	id := c.Uint("id")
	e := &event{category: c.Uint("category"), number: len(d.defined)}
	e.def.Name = string(c.Text("name"))
	e.def.Display = stream.Location(c.Uint("display"))
	e.def.Chart, e.def.Tooltip, e.def.Table = string(c.Text("chart")), string(c.Text("tooltip")), string(c.Text("table"))
	if c.Err() == nil {
		d.events.put(id, e)
		d.defined = append(d.defined, e)
	}
}

func (d *dictionary) defField(c *rawformat.Cursor) {
	event, position := c.Uint("event"), c.Uint("position")
	f := stream.EventField{Name: string(c.Text("name")), Label: string(c.Text("label"))}
	f.Type = fieldType(c.Uint("wire"))
	wireFormat := c.Uint("format")
	f.Format, f.Shown = format(wireFormat)
	if (f.Format == stream.FormatTraceID || f.Format == stream.FormatSpanID) && f.Type != stream.Text {
		f.Format = stream.FormatHexadecimal // a number is not as large
	}
	f.Privacy = stream.Privacy(min(c.Uint("privacy"), uint64(stream.PrivacySecret)))
	flags := rawformat.FieldFlag(c.Uint("flags"))
	f.Searchable, f.Hidden = flags&rawformat.FieldSearchable != 0, flags&rawformat.FieldHidden != 0
	e := d.events.get(event)
	if c.Err() != nil || e == nil || position >= rawformat.MaxArgs {
		return
	}
	for len(e.def.Fields) <= int(position) {
		e.def.Fields = append(e.def.Fields, opaqueField(len(e.def.Fields), stream.Null))
	}
	e.def.Fields[position] = f
	mark(&e.local, position, flags&rawformat.FieldLocal != 0)
	mark(&e.moments, position, wireFormat == uint64(rawformat.FormatMoment))
	mark(&e.colors, position, flags&rawformat.FieldColor != 0)
	mark(&e.names, position, flags&rawformat.FieldName != 0 && f.Type == stream.Text)
}

// mark sets or clears the bit of a field.
func mark(fields *uint16, position uint64, on bool) {
	if *fields &^= 1 << position; on {
		*fields |= 1 << position
	}
}

func (d *dictionary) defShow(c *rawformat.Cursor) {
	e := d.events.get(c.Uint("event"))
	flags, description, typ := rawformat.EventFlag(c.Uint("flags")), string(c.Text("description")), ""
	if c.Err() == nil && c.Len() > 0 { // the first recordings had no types
		typ = string(c.Text("type"))
	}
	if c.Err() == nil && e != nil {
		e.def.Nested, e.def.Description, e.def.Type = flags&rawformat.EventNested != 0, description, typ
	}
}

// graphShapes are the shapes of graphs as the waist names them.
var graphShapes = [...]string{rawformat.GraphBar: "bar", rawformat.GraphLine: "line", rawformat.GraphFilled: "line-filled"}

func (d *dictionary) defGraph(c *rawformat.Cursor) {
	e := d.events.get(c.Uint("event"))
	position, shape, color := c.Uint("position"), c.Uint("shape"), string(c.Text("color"))
	if c.Err() != nil || e == nil || position >= rawformat.MaxArgs || shape >= uint64(len(graphShapes)) { // a shape of a later version can't be drawn
		return
	}
	e.graphs = slices.DeleteFunc(e.graphs, func(g graph) bool { return g.position == position })
	e.graphs = append(e.graphs, graph{position, graphShapes[shape], color})
}

// show sets what refers to fields by name, all of which are known now.
func (e *event) show() {
	for _, g := range e.graphs {
		if g.position < uint64(len(e.def.Fields)) {
			e.def.Graphs = append(e.def.Graphs, stream.Graph{Field: e.def.Fields[g.position].Name, Shape: g.shape, Color: g.color})
		}
	}
	e.def.ColorField, e.def.NameField = e.first(e.colors), e.first(e.names)
}

// first is the name of the first field of a set, "" if that is empty.
func (e *event) first(fields uint16) string {
	if i := bits.TrailingZeros16(fields); i < len(e.def.Fields) {
		return e.def.Fields[i].Name
	}
	return ""
}

// opaqueField stands for a field without a definition. It may reveal anything, so it is secret.
func opaqueField(position int, t stream.Type) stream.EventField {
	f := stream.EventField{Name: "arg" + strconv.Itoa(position), Type: t, Format: stream.FormatInteger, Privacy: stream.PrivacySecret}
	switch t {
	case stream.Float:
		f.Format = stream.FormatDecimal
	case stream.Text:
		f.Format = stream.FormatText
	}
	return f
}

// fieldTypes are by wire type.
var fieldTypes = [4]stream.Type{
	rawformat.WireSint: stream.Int, rawformat.WireUint: stream.Uint, rawformat.WireFloat: stream.Float, rawformat.WireText: stream.Text,
}

func fieldType(wire uint64) stream.Type { return fieldTypes[wire&3] }

// format maps wire formats to those of the stream, which are the same, or to one of these and how
// it is shown; a later version's format is shown as an integer.
func format(f uint64) (of stream.Format, shown string) {
	switch more := f - sameFormats; {
	case f < sameFormats:
		return stream.Format(f), ""
	case more < uint64(len(moreFormats)):
		return moreFormats[more].format, moreFormats[more].shown
	}
	return stream.FormatInteger, ""
}

// sameFormats is how many formats have the same numbers in the stream.
const sameFormats = uint64(rawformat.FormatSeconds)

// moreFormats are the wire formats after those, in the order of their numbers.
var moreFormats = [...]struct {
	format stream.Format
	shown  string
}{
	{stream.FormatNanoseconds, "seconds"}, // rawformat.FormatSeconds
	{stream.FormatNanoseconds, "milliseconds"},
	{stream.FormatNanoseconds, "microseconds"},
	{stream.FormatNanoseconds, "nanoseconds"}, // rawformat.FormatWholeNanos
	{stream.FormatTime, ""},                   // rawformat.FormatMoment
	{stream.FormatTraceID, ""},
	{stream.FormatSpanID, ""},
}

func (d *dictionary) defTrack(c *rawformat.Cursor) {
	id, name := c.Uint("id"), d.text(c, "name")
	if c.Err() == nil {
		d.tracks.put(id, name)
	}
}

func (d *dictionary) defCounter(c *rawformat.Cursor) {
	id := c.Uint("id")
	k := stream.Counter{Process: d.process.ID, Name: string(c.Text("name")), Category: string(c.Text("category")), Description: string(c.Text("description"))}
	k.Unit, _ = format(c.Uint("unit"))
	mode := rawformat.CounterMode(c.Uint("mode"))
	k.Total, k.Own = mode&rawformat.CounterTotal != 0, mode&rawformat.CounterOwn != 0
	if c.Err() == nil {
		d.counters.put(id, &counter{def: k})
	}
}

func (d *dictionary) defModule(c *rawformat.Cursor) {
	id := c.Uint("id")
	m := mapping{path: d.text(c, "path"), build: d.text(c, "build"), start: c.Fixed("start"), end: c.Fixed("end"), offset: c.Fixed("offset")}
	if c.Err() == nil {
		d.mapped = append(d.mapped, m)
		d.modules.put(id, int32(len(d.mapped)))
	}
}

func (d *dictionary) defFrame(e *entry) { d.addFrame(e.v[0], e.v[1], e.v[2]) }

func (d *dictionary) addFrame(id, mod, offset uint64) {
	f := frame{offset: offset, known: true}
	if mod != 0 {
		if f.module = d.modules.get(mod); f.module == 0 {
			d.malformed++ // an offset in an unknown file says nothing
			return
		}
		f.offset += d.mapped[f.module-1].offset
	}
	d.frames.put(id, f)
}

func (d *dictionary) defLabel(c *rawformat.Cursor) {
	id, category, name := c.Uint("id"), c.Uint("category"), d.text(c, "name")
	if c.Err() == nil {
		d.labels = append(d.labels, label{category, name})
		d.frames.put(id, frame{label: int32(len(d.labels)), known: true})
	}
}

func (d *dictionary) defStack(e *entry) {
	d.stacks.put(e.v[0], edge{uint32(min(e.v[1], none)), uint32(min(e.v[2], none))})
}

func (d *dictionary) defStart(e *entry) {
	if d.starts == nil {
		d.starts = map[start]int32{}
	}
	d.starts[start{e.v[0], e.v[1]}] = int32(min(e.v[2], 1<<31-1))
}

func (d *dictionary) defRoot(e *entry) {
	if d.began == nil {
		d.began = map[uint64]uint64{}
	}
	d.began[e.v[0]] = e.v[1]
}

func (d *dictionary) defLabelSet(e *entry) {
	d.labelSets.put(e.v[0], labelEdge{e.v[1], e.v[2], e.v[3]})
}

// labelSet is the set of an id, and whether all of it is defined.
func (d *dictionary) labelSet(id uint64) (set stream.LabelSet, defined bool) {
	var labels []stream.Attr
	for id != 0 && len(labels) < rawformat.MaxLabels {
		l := d.labelSets.get(id)
		if l == (labelEdge{}) {
			return set, false
		}
		labels = append(labels, stream.Attr{Key: d.string(l.key), Value: d.string(l.value)})
		id = l.parent
	}
	return stream.NewLabelSet(labels...), true
}

// find is the frame of a pc.
func (d *dictionary) find(pc uint64) frame {
	for i, m := range slices.Backward(d.mapped) {
		if m.start <= pc && pc < m.end {
			return frame{offset: pc - m.start + m.offset, module: int32(i + 1), known: true}
		}
	}
	return frame{offset: pc, known: true}
}

// undefinedEvent stands for an event without a definition.
func undefinedEvent(id uint64, args []arg) stream.Event {
	e := stream.Event{Name: "event " + strconv.FormatUint(id, 10), Display: stream.ShowChart | stream.ShowTable}
	for i, a := range args {
		e.Fields = append(e.Fields, opaqueField(i, fieldType(uint64(a.wire))))
	}
	return e
}
