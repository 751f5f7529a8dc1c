package otlp

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gprof/ingest/internal/damage"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
)

// dictionary is the tables of a file. Rows are parsed when they are referred to.
type dictionary struct {
	data   []byte
	tables [otlpproto.DictionaryStack + 1][]extent // by field
}

// extent is a half-open range of data.
type extent struct{ from, to uint32 }

// add adds a row. at is its offset in the file.
func (d *dictionary) add(v *protobuf.Field, at int64) error {
	if v.Number >= len(d.tables) || v.Wire != protobuf.Bytes {
		return nil // of a later version
	}
	from := len(d.data)
	if uint64(from+len(v.Bytes)) > math.MaxUint32 {
		return &damage.Error{Off: at, Err: fmt.Errorf("%w: a dictionary of more than 4 GiB", damage.ErrTooBig)}
	}
	d.data = append(d.data, v.Bytes...)
	d.tables[v.Number] = append(d.tables[v.Number], extent{uint32(from), uint32(len(d.data))})
	return nil
}

// row is row n of a table. It is not ok if there is none.
func (d *dictionary) row(field int, n uint64) (row []byte, ok bool) {
	rows := d.tables[field]
	if n >= uint64(len(rows)) {
		return nil, false
	}
	return d.data[rows[n].from:rows[n].to], true
}

// text is string n, "" if there is none.
func (d *dictionary) text(n uint64) string {
	row, _ := d.row(otlpproto.DictionaryString, n)
	return string(row)
}

// bytes is the memory of d.
func (d *dictionary) bytes() (n int64) {
	n = int64(cap(d.data))
	for _, rows := range d.tables {
		n += 8 * int64(cap(rows))
	}
	return n
}

// attribute is a key with a value.
type attribute struct {
	key, unit string
	value
}

// attributes are the rows of the table of attributes with these numbers; those that are not there are
// counted.
func (d *dictionary) attributes(numbers []uint64) (all []attribute, undefined int64) {
	for _, n := range numbers {
		if n == 0 {
			continue // none
		}
		row, ok := d.row(otlpproto.DictionaryAttribute, n)
		if !ok {
			undefined++
			continue
		}
		var a attribute
		m := protobuf.Message{Rest: row}
		for v, more := m.Read(); more; v, more = m.Read() {
			switch v.Number {
			case otlpproto.AttributeKey:
				a.key = d.text(v.Value)
			case otlpproto.AttributeValue:
				a.value = d.value(v.Bytes, 0)
			case otlpproto.AttributeUnit:
				a.unit = d.text(v.Value)
			}
		}
		all = append(all, a)
	}
	return all, undefined
}

// pairs are the attributes of a resource or scope, which are fields of it with this number.
func (d *dictionary) pairs(message []byte, field int) (all []attribute) {
	m := protobuf.Message{Rest: message}
	for v, more := m.Read(); more; v, more = m.Read() {
		if v.Number == field && v.Wire == protobuf.Bytes {
			all = append(all, d.pair(v.Bytes, 0))
		}
	}
	return all
}

func (d *dictionary) pair(message []byte, depth int) (a attribute) {
	m := protobuf.Message{Rest: message}
	for v, more := m.Read(); more; v, more = m.Read() {
		switch v.Number {
		case otlpproto.KeyName:
			a.key = string(v.Bytes)
		case otlpproto.KeyRef:
			a.key = d.text(v.Value)
		case otlpproto.KeyValue:
			a.value = d.value(v.Bytes, depth)
		}
	}
	return a
}

// value is a value as text; list has the elements of an array.
type value struct {
	text     string
	isNumber bool // a whole one
	number   int64
	list     []string
}

// maxNested bounds how deep values are in each other.
const maxNested = 16

// value parses an AnyValue.
func (d *dictionary) value(message []byte, depth int) (a value) {
	if depth > maxNested {
		return a
	}
	m := protobuf.Message{Rest: message}
	for v, more := m.Read(); more; v, more = m.Read() {
		switch v.Number {
		case otlpproto.ValueString:
			a = value{text: string(v.Bytes)}
		case otlpproto.ValueStringRef:
			a = value{text: d.text(v.Value)}
		case otlpproto.ValueBool:
			a = value{text: strconv.FormatBool(v.Value != 0)}
		case otlpproto.ValueInt:
			a = value{text: strconv.FormatInt(int64(v.Value), 10), isNumber: true, number: int64(v.Value)}
		case otlpproto.ValueDouble:
			a = value{text: strconv.FormatFloat(math.Float64frombits(v.Value), 'g', -1, 64)}
		case otlpproto.ValueArray:
			a = d.array(v.Bytes, depth+1)
		case otlpproto.ValueList:
			a = d.list(v.Bytes, depth+1)
		case otlpproto.ValueBytes:
			a = value{text: hex.EncodeToString(v.Bytes)}
		}
	}
	return a
}

func (d *dictionary) array(message []byte, depth int) (a value) {
	m := protobuf.Message{Rest: message}
	for v, more := m.Read(); more; v, more = m.Read() {
		if v.Number == otlpproto.ListValue {
			a.list = append(a.list, d.value(v.Bytes, depth).text)
		}
	}
	a.text = strings.Join(a.list, ", ")
	return a
}

func (d *dictionary) list(message []byte, depth int) (a value) {
	var all []string
	m := protobuf.Message{Rest: message}
	for v, more := m.Read(); more; v, more = m.Read() {
		if v.Number == otlpproto.ListValue {
			pair := d.pair(v.Bytes, depth)
			all = append(all, pair.key+"="+pair.text)
		}
	}
	slices.Sort(all)
	return value{text: strings.Join(all, ", ")}
}
