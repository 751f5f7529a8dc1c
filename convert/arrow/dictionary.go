package arrow

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"gprof/convert/internal/tables"
)

// dictionary is all texts of a column. A file can hold one for each column, which
// must not change between record batches.
type dictionary struct {
	data  *array.Data
	index map[string]int32
}

// newDictionary is that of a column whose texts are known, else nil.
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

// indexType is the smallest that holds all numbers of texts.
func (d *dictionary) indexType() arrow.DataType {
	switch n := len(d.index); {
	case n <= math.MaxInt8:
		return arrow.PrimitiveTypes.Int8
	case n <= math.MaxInt16:
		return arrow.PrimitiveTypes.Int16
	}
	return arrow.PrimitiveTypes.Int32
}

// append appends the numbers of texts.
func (d *dictionary) append(dst []int32, v *tables.Values) []int32 {
	for i := range v.Ends {
		dst = append(dst, d.index[string(v.TextAt(i))])
	}
	return dst
}

// buffer holds numbers as the type of indices has them.
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
