package arrow

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"gprof/convert/internal/tables"
)

// column is the buffered values of a column, laid out as in Arrow, except for bits.
type column struct {
	known   []bool // by row; empty if all are known
	unknown int
	longs   []int64
	shorts  []int32
	doubles []float64
	flags   []bool
	bytes   []byte
	ends    []int32 // of texts; begins with 0
	lists   []int32 // ends of lists; begins with 0
	of      *dictionary
}

// add appends values, and returns their size.
func (c *column) add(kind tables.Kind, v *tables.Values) int {
	before := c.size()
	rounds := 1
	if v.One {
		rounds = v.Rows
	}
	for range rounds {
		for _, known := range v.Known {
			c.known = append(c.known, known)
			if !known {
				c.unknown++
			}
		}
		c.append(kind, v)
	}
	return c.size() - before
}

func (c *column) append(kind tables.Kind, v *tables.Values) {
	switch kind {
	case tables.Long:
		c.longs = append(c.longs, v.Longs...)
	case tables.Short:
		c.shorts = append(c.shorts, v.Shorts...)
	case tables.Double:
		c.doubles = append(c.doubles, v.Doubles...)
	case tables.Flag:
		c.flags = append(c.flags, v.Flags...)
	case tables.IDs:
		c.lists = appendEnds(c.lists, v.Lists, len(c.shorts))
		c.shorts = append(c.shorts, v.Shorts...)
	case tables.Texts:
		c.lists = appendEnds(c.lists, v.Lists, max(len(c.ends)-1, 0))
		c.texts(v)
	default:
		c.texts(v)
	}
}

func (c *column) texts(v *tables.Values) {
	if c.of != nil {
		c.shorts = c.of.append(c.shorts, v)
		return
	}
	c.ends = appendEnds(c.ends, v.Ends, len(c.bytes))
	c.bytes = append(c.bytes, v.Bytes...)
}

// appendEnds appends ends, offset by what came before.
func appendEnds(dst, ends []int32, others int) []int32 {
	if len(dst) == 0 {
		dst = append(dst, 0)
	}
	for _, end := range ends {
		dst = append(dst, end+int32(others))
	}
	return dst
}

func (c *column) size() int {
	return len(c.known) + 8*(len(c.longs)+len(c.doubles)) + 4*(len(c.shorts)+len(c.ends)+len(c.lists)) + len(c.flags) + len(c.bytes)
}

// data is an array of the rows. It points into c.
func (c *column) data(t arrow.DataType, kind tables.Kind, rows int) arrow.ArrayData {
	var known *memory.Buffer
	if c.unknown > 0 {
		known = bits(c.known)
	}
	if c.of != nil {
		return array.NewDataWithDictionary(t, rows, []*memory.Buffer{known, c.of.buffer(c.shorts)}, c.unknown, 0, c.of.data)
	}
	switch kind {
	case tables.Long:
		return array.NewData(t, rows, []*memory.Buffer{known, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(c.longs))}, nil, c.unknown, 0)
	case tables.Short:
		return array.NewData(t, rows, []*memory.Buffer{known, shorts(c.shorts)}, nil, c.unknown, 0)
	case tables.Double:
		return array.NewData(t, rows, []*memory.Buffer{known, memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(c.doubles))}, nil, c.unknown, 0)
	case tables.Flag:
		return array.NewData(t, rows, []*memory.Buffer{known, bits(c.flags)}, nil, c.unknown, 0)
	case tables.Hash, tables.SpanID:
		return array.NewData(t, rows, []*memory.Buffer{known, memory.NewBufferBytes(c.bytes)}, nil, c.unknown, 0)
	case tables.IDs:
		members := array.NewData(arrow.PrimitiveTypes.Int32, len(c.shorts), []*memory.Buffer{nil, shorts(c.shorts)}, nil, 0, 0)
		return array.NewData(t, rows, []*memory.Buffer{known, shorts(c.lists)}, []arrow.ArrayData{members}, c.unknown, 0)
	case tables.Texts:
		return array.NewData(t, rows, []*memory.Buffer{known, shorts(c.lists)}, []arrow.ArrayData{c.strings(nil, max(len(c.ends)-1, 0), 0)}, c.unknown, 0)
	default:
		return c.strings(known, rows, c.unknown)
	}
}

func (c *column) strings(known *memory.Buffer, n, unknown int) arrow.ArrayData {
	return array.NewData(arrow.BinaryTypes.String, n, []*memory.Buffer{known, shorts(c.ends), memory.NewBufferBytes(c.bytes)}, nil, unknown, 0)
}

func shorts(values []int32) *memory.Buffer {
	return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(values))
}

// bits packs booleans.
func bits(values []bool) *memory.Buffer {
	packed := make([]byte, (len(values)+7)/8)
	for i, v := range values {
		if v {
			packed[i/8] |= 1 << (i % 8)
		}
	}
	return memory.NewBufferBytes(packed)
}

// dictionary is all texts of a column. A file can have one for each column, the same for all record
// batches.
type dictionary struct {
	data  *array.Data
	index map[string]int32
}

// newDictionary is the dictionary of a column whose texts are known, else nil.
func newDictionary(c *tables.Column) *dictionary {
	if len(c.Texts) == 0 {
		return nil
	}
	d, texts := &dictionary{index: map[string]int32{}}, column{}
	for _, text := range c.Texts {
		if _, known := d.index[text]; !known {
			d.index[text] = int32(len(d.index))
			texts.ends = appendEnds(texts.ends, []int32{int32(len(text))}, len(texts.bytes))
			texts.bytes = append(texts.bytes, text...)
		}
	}
	d.data = texts.strings(nil, len(d.index), 0).(*array.Data)
	return d
}

// indexType is the smallest type for all indexes.
func (d *dictionary) indexType() arrow.DataType {
	switch n := len(d.index); {
	case n <= math.MaxInt8:
		return arrow.PrimitiveTypes.Int8
	case n <= math.MaxInt16:
		return arrow.PrimitiveTypes.Int16
	}
	return arrow.PrimitiveTypes.Int32
}

// append appends indexes of texts.
func (d *dictionary) append(dst []int32, v *tables.Values) []int32 {
	for i := range v.Ends {
		dst = append(dst, d.index[string(v.TextAt(i))])
	}
	return dst
}

// buffer is indexes in the index type.
func (d *dictionary) buffer(numbers []int32) *memory.Buffer {
	switch d.indexType().(arrow.FixedWidthDataType).BitWidth() {
	case 8:
		return memory.NewBufferBytes(arrow.Int8Traits.CastToBytes(narrow[int8](numbers)))
	case 16:
		return memory.NewBufferBytes(arrow.Int16Traits.CastToBytes(narrow[int16](numbers)))
	}
	return shorts(numbers)
}

func narrow[T int8 | int16](numbers []int32) []T {
	out := make([]T, len(numbers))
	for i, n := range numbers {
		out[i] = T(n)
	}
	return out
}
