package otlp

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"gprof/convert/internal/locations"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
	"gprof/stream/spill"
)

// dictionary is the tables that all else refers to by numbers. The first row of each is empty, and
// means none.
type dictionary struct {
	of        *stream.Tables
	texts     locations.Texts
	functions locations.Functions
	modules   locations.Modules
	locations locations.Table
	stacks    []uint32          // by StackID: its number, 0 none
	numbers   map[string]uint64 // of attributes, by their rows
	links     map[stream.Span]uint64
	owned     map[owned]ownedFields
	parts     map[int]*part // by field
	file      *spill.File

	frames    []stream.Frame // scratch, as are these
	row, line []byte
}

// part is the rows of a table, as fields of the dictionary.
type part struct {
	field int
	rows  *spill.Buffer
	n     uint64
	size  int64
}

// dictionaryFields are the tables, in the order of their numbers.
var dictionaryFields = []int{otlpproto.DictionaryMapping, otlpproto.DictionaryLocation, otlpproto.DictionaryFunction, otlpproto.DictionaryLink,
	otlpproto.DictionaryString, otlpproto.DictionaryAttribute, otlpproto.DictionaryStack}

func newDictionary(t *stream.Tables, file *spill.File) *dictionary {
	d := &dictionary{of: t, file: file, stacks: make([]uint32, t.Stacks.Len()+1), numbers: map[string]uint64{}, links: map[stream.Span]uint64{}, owned: map[owned]ownedFields{}, parts: map[int]*part{}}
	d.modules.Build(t, false)
	d.locations.Build(t)
	d.texts.Number("")
	for _, field := range dictionaryFields {
		d.parts[field] = &part{field: field, rows: file.NewBuffer()}
		if field != otlpproto.DictionaryString {
			d.add(field, nil)
		}
	}
	return d
}

// add adds a row to a table, and returns its number.
func (d *dictionary) add(field int, row []byte) uint64 {
	p := d.parts[field]
	d.line = protobuf.AppendBytes(d.line[:0], field, row)
	p.rows.Write(d.line) // the file keeps its error
	p.size += int64(len(d.line))
	p.n++
	return p.n - 1
}

// stack is the number of a stack.
func (d *dictionary) stack(id stream.StackID) uint64 {
	if d.stacks[id] == 0 && id != 0 {
		inner, outer := d.locations.Encode(id)
		d.row = protobuf.AppendLength(d.row[:0], otlpproto.StackLocations, len(inner)+len(outer))
		d.row = append(append(d.row, inner...), outer...)
		d.stacks[id] = uint32(d.add(otlpproto.DictionaryStack, d.row))
	}
	return uint64(d.stacks[id])
}

// attribute is the number of an attribute, whose value is an AnyValue.
func (d *dictionary) attribute(key string, value []byte, unit string) uint64 {
	row := protobuf.AppendNumber(nil, otlpproto.AttributeKey, d.texts.Number(key))
	row = protobuf.AppendBytes(row, otlpproto.AttributeValue, value)
	row = protobuf.AppendNumber(row, otlpproto.AttributeUnit, d.texts.Number(unit))
	n, ok := d.numbers[string(row)]
	if !ok {
		n = d.add(otlpproto.DictionaryAttribute, row)
		d.numbers[string(row)] = n
	}
	return n
}

// maxLinks bounds the links whose numbers are known, 8 MB. Further ones of the same span get
// another row; as samples of a span mostly follow each other, these are few.
const maxLinks = 1 << 17

// link is the number of a link to a span, 0 for none.
func (d *dictionary) link(to stream.Span) uint64 {
	if to == (stream.Span{}) {
		return 0
	}
	n, ok := d.links[to]
	if !ok {
		if len(d.links) == maxLinks {
			clear(d.links)
		}
		row := protobuf.AppendBytes(nil, otlpproto.LinkTrace, to.AppendTrace(nil))
		n = d.add(otlpproto.DictionaryLink, protobuf.AppendBytes(row, otlpproto.LinkSpan, to.AppendID(nil)))
		d.links[to] = n
	}
	return n
}

// finish adds the tables of code, and returns all in the order of their fields.
func (d *dictionary) finish() (all []*part) {
	for i := range d.locations.Len() {
		d.addLocation(i + 1)
	}
	d.addFunctions()
	for i := range d.modules.List {
		d.addMapping(&d.modules.List[i])
	}
	for _, text := range d.texts.All() {
		d.add(otlpproto.DictionaryString, []byte(text))
	}
	for _, field := range dictionaryFields {
		all = append(all, d.parts[field])
	}
	return all
}

func (d *dictionary) addLocation(number int) {
	ids := d.locations.Frames(number)
	d.frames = d.frames[:0]
	for _, id := range ids {
		d.frames = append(d.frames, d.of.Frames.At(id))
	}
	mapping, address := d.modules.Place(d.frames)
	d.modules.Note(mapping, d.frames)
	row := protobuf.AppendNumber(d.row[:0], otlpproto.LocationMapping, uint64(mapping))
	row = protobuf.AppendNumber(row, otlpproto.LocationAddress, address)
	for i, f := range d.frames {
		if f.Function == 0 {
			continue
		}
		line := protobuf.AppendNumber(nil, otlpproto.LineFunction, d.functions.Number(d.of, ids[i], f))
		line = protobuf.AppendNumber(line, otlpproto.LineNumber, uint64(max(0, f.Line)))
		row = protobuf.AppendBytes(row, otlpproto.LocationLine, line)
	}
	d.add(otlpproto.DictionaryLocation, row)
	d.row = row
}

func (d *dictionary) addFunctions() {
	for f, start := range d.functions.All() {
		name := d.texts.Number(d.of.Strings.At(f.Name))
		linked := name
		if f.IsLinked {
			linked = d.texts.Number(f.Linked)
		}
		row := protobuf.AppendNumber(d.row[:0], otlpproto.FunctionName, name)
		row = protobuf.AppendNumber(row, otlpproto.FunctionSystem, linked)
		row = protobuf.AppendNumber(row, otlpproto.FunctionFile, d.texts.Number(d.of.Strings.At(f.File)))
		d.row = protobuf.AppendNumber(row, otlpproto.FunctionStart, uint64(start))
		d.add(otlpproto.DictionaryFunction, d.row)
	}
}

func (d *dictionary) addMapping(at *locations.Mapping) {
	m, has := d.of.Modules.At(at.Module), at.Has()
	row := protobuf.AppendNumber(d.row[:0], otlpproto.MappingStart, at.Start)
	row = protobuf.AppendNumber(row, otlpproto.MappingLimit, at.Limit)
	row = protobuf.AppendNumber(row, otlpproto.MappingOffset, at.Offset)
	row = protobuf.AppendNumber(row, otlpproto.MappingFile, d.texts.Number(cmp.Or(at.Path, m.Path, m.Name)))
	var attributes []byte
	add := func(key string, value []byte) {
		attributes = binary.AppendUvarint(attributes, d.attribute(key, value, ""))
	}
	if m.Build != "" {
		add(buildKey(m.Build), textValue(m.Build))
	}
	for _, said := range []struct {
		key   string
		names stream.MappingNames
	}{
		{"pprof.mapping.has_functions", stream.NamesFunctions}, {"pprof.mapping.has_filenames", stream.NamesFiles},
		{"pprof.mapping.has_line_numbers", stream.NamesLines}, {"pprof.mapping.has_inline_frames", stream.NamesInlined},
	} {
		if has&said.names != 0 {
			add(said.key, protobuf.AppendBool(nil, otlpproto.ValueBool, true))
		}
	}
	if len(attributes) > 0 {
		row = protobuf.AppendBytes(row, otlpproto.MappingAttributes, attributes)
	}
	d.add(otlpproto.DictionaryMapping, row)
	d.row = row
}

// buildKey is the attribute that a build id is: those of Go are no hexadecimal numbers.
func buildKey(build string) string {
	if _, err := hex.DecodeString(build); err != nil && strings.Contains(build, "/") {
		return "process.executable.build_id.go"
	}
	return "process.executable.build_id.gnu"
}
