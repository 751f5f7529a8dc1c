package stream

import (
	"encoding/binary"
	"errors"
	"slices"
)

// errSpill says that the spill file does not hold what was written to it.
var errSpill = errors.New("spill file is damaged")

// A block holds sorted rows of one series, column by column:
//
//	rows     U
//	time     S the first, then U, each the difference to the one before
//	index    S, likewise
//	value    S, likewise
//	stack    U            weight, cpu, duration, number  S
//	phase    1 byte       args  see appendTo of Column
//
// U is a ULEB128, S one of the zig-zag form. Columns that the kind does not
// use are missing. A sample takes about 12 bytes.
const (
	blockRows = 512
	blockArgs = 32 << 10 // bytes of arguments, unless one row has more
)

// appendBlock encodes rows from to to-1 of b.
func appendBlock(dst []byte, b *Batch, from, to int) []byte {
	dst = binary.AppendUvarint(dst, uint64(to-from))
	dst = binary.AppendVarint(dst, int64(b.Time[from]))
	for i := from + 1; i < to; i++ {
		dst = binary.AppendUvarint(dst, uint64(b.Time[i]-b.Time[i-1]))
	}
	dst = appendDeltas(dst, b.Index[from:to])
	uses := b.Series.Kind.Columns()
	if uses&UsesStack != 0 {
		for _, id := range b.Stack[from:to] {
			dst = binary.AppendUvarint(dst, uint64(id))
		}
	}
	if uses&UsesWeight != 0 {
		dst = appendSigned(dst, b.Weight[from:to])
		dst = appendSigned(dst, b.CPU[from:to])
	}
	if uses&UsesPhase != 0 {
		for _, p := range b.Phase[from:to] {
			dst = append(dst, byte(p))
		}
		dst = appendSigned(dst, b.Duration[from:to])
	}
	if uses&UsesValue != 0 {
		dst = appendDeltas(dst, b.Value[from:to])
		dst = appendSigned(dst, b.Number[from:to])
	}
	for i := range b.Args {
		dst = b.Args[i].appendTo(dst, from, to)
	}
	return dst
}

func appendSigned(dst []byte, column []int64) []byte {
	for _, v := range column {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}

func appendDeltas[T int64 | uint64](dst []byte, column []T) []byte {
	var last T
	for _, v := range column {
		dst = binary.AppendVarint(dst, int64(v-last))
		last = v
	}
	return dst
}

// appendTo encodes rows from to to-1 of a column: first their types, each with
// how many rows in a row have it, then S of each Int, U of each Uint, 8 bytes
// of each Float and U of the length of each Text, then all texts.
func (c *Column) appendTo(dst []byte, from, to int) []byte {
	for i := from; i < to; {
		first := i
		for i < to && c.kind[i] == c.kind[first] {
			i++
		}
		dst = append(dst, byte(c.kind[first]))
		dst = binary.AppendUvarint(dst, uint64(i-first))
	}
	for i := from; i < to; i++ {
		switch c.kind[i] {
		case Int:
			dst = binary.AppendVarint(dst, int64(c.num[i]))
		case Uint:
			dst = binary.AppendUvarint(dst, c.num[i])
		case Float:
			dst = binary.LittleEndian.AppendUint64(dst, c.num[i])
		case Text:
			dst = binary.AppendUvarint(dst, c.num[i]>>32)
		}
	}
	for i := from; i < to; i++ {
		if c.kind[i] == Text {
			dst = append(dst, c.TextAt(i)...)
		}
	}
	return dst
}

// blockReader decodes one block. After bytes that make no sense it gives zeros.
type blockReader struct {
	data []byte
	bad  bool
}

// readBlock decodes data into b, which was Reset for its series.
func readBlock(b *Batch, data []byte) error {
	r := blockReader{data: data}
	n := int(r.atMost(blockRows))
	b.Time = slices.Grow(b.Time, n)
	t := r.signed()
	for i := range n {
		if i > 0 {
			t += int64(r.unsigned())
		}
		b.Time = append(b.Time, Time(t))
	}
	b.Index = readDeltas(&r, b.Index, n)
	r.columns(b, n)
	for i := range b.Args {
		r.column(&b.Args[i], n)
	}
	if r.bad || n == 0 || len(r.data) > 0 {
		return errSpill
	}
	return nil
}

// columns reads those columns that depend on the kind.
func (r *blockReader) columns(b *Batch, n int) {
	uses := b.Series.Kind.Columns()
	if uses&UsesStack != 0 {
		for range n {
			b.Stack = append(b.Stack, StackID(r.atMost(1<<31-1)))
		}
	}
	if uses&UsesWeight != 0 {
		b.Weight = r.signeds(b.Weight, n)
		b.CPU = r.signeds(b.CPU, n)
	}
	if uses&UsesPhase != 0 {
		for _, p := range r.bytes(n) {
			b.Phase = append(b.Phase, Phase(p))
		}
		b.Duration = r.signeds(b.Duration, n)
	}
	if uses&UsesValue != 0 {
		b.Value = readDeltas(r, b.Value, n)
		b.Number = r.signeds(b.Number, n)
	}
}

// column reads n arguments. The lengths of texts stand where their ends will.
func (r *blockReader) column(c *Column, n int) {
	r.types(c, n)
	for _, kind := range c.kind {
		c.num = append(c.num, r.number(kind))
	}
	for i, kind := range c.kind {
		if kind == Text {
			length := c.num[i]
			c.data = append(c.data, r.bytes(int(length))...)
			c.num[i] = uint64(len(c.data)) | length<<32
		}
	}
}

func (r *blockReader) types(c *Column, n int) {
	for len(c.kind) < n && !r.bad {
		kind := Type(r.bytes(1)[0])
		run := int(r.atMost(uint64(n - len(c.kind))))
		r.bad = r.bad || kind > Text || run == 0
		for range run {
			c.kind = append(c.kind, kind)
		}
	}
}

// number reads what stands for one argument before the texts.
func (r *blockReader) number(kind Type) uint64 {
	switch kind {
	case Int:
		return uint64(r.signed())
	case Uint:
		return r.unsigned()
	case Float:
		return binary.LittleEndian.Uint64(r.bytes(8))
	case Text:
		return r.atMost(uint64(len(r.data)))
	}
	return 0
}

func (r *blockReader) signeds(column []int64, n int) []int64 {
	column = slices.Grow(column, n)
	for range n {
		column = append(column, r.signed())
	}
	return column
}

func readDeltas[T int64 | uint64](r *blockReader, column []T, n int) []T {
	column = slices.Grow(column, n)
	var last T
	for range n {
		last += T(r.signed())
		column = append(column, last)
	}
	return column
}

func (r *blockReader) unsigned() uint64 {
	v, n := binary.Uvarint(r.data)
	r.skip(n)
	return v
}

func (r *blockReader) signed() int64 {
	v, n := binary.Varint(r.data)
	r.skip(n)
	return v
}

// skip passes n bytes; n is not positive after a number that is none.
func (r *blockReader) skip(n int) {
	if n <= 0 {
		r.bad, r.data = true, nil
		return
	}
	r.data = r.data[n:]
}

// atMost reads a number that is bad if it is above limit.
func (r *blockReader) atMost(limit uint64) uint64 {
	v := r.unsigned()
	if v > limit {
		r.bad, r.data = true, nil
		return 0
	}
	return v
}

// bytes returns the next n bytes. If there are fewer, it returns few zeros
// instead of none, so that fixed fields need no check.
func (r *blockReader) bytes(n int) []byte {
	if n > len(r.data) {
		r.bad, r.data = true, nil
		return make([]byte, min(n, blockRows))
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}
