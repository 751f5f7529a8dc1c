package stream

import (
	"encoding/binary"
	"errors"
)

// errSpill says that the spill file does not hold what was written to it.
var errSpill = errors.New("spill file is damaged")

// A block holds sorted rows of one series, column by column:
//
//	rows     U (ULEB128)
//	time, index, value                            chained, see pack.go
//	stack, weight, cpu, phase, duration, number   packed
//	thread, goroutine, labels                     see appendWho
//	args     see appendBlock of Column
//
// Columns that the kind does not use are missing. A sample takes about 11
// bytes.
const (
	blockRows = 512
	blockArgs = 32 << 10 // bytes of arguments, unless one row has more
)

// appendBlock encodes rows from to to-1 of b, at least one.
func appendBlock(dst []byte, p *packer, b *Batch, from, to int) []byte {
	dst = binary.AppendUvarint(dst, uint64(to-from))
	dst = appendChained(dst, p, b.Time[from:to])
	dst = appendChained(dst, p, b.Index[from:to])
	uses := b.Series.Kind.Columns()
	if uses&UsesStack != 0 {
		dst = appendPacked(dst, p, b.Stack[from:to])
	}
	if uses&UsesWeight != 0 {
		dst = appendPacked(dst, p, b.Weight[from:to])
		dst = appendPacked(dst, p, b.CPU[from:to])
	}
	if uses&UsesPhase != 0 {
		dst = appendPacked(dst, p, b.Phase[from:to])
		dst = appendPacked(dst, p, b.Duration[from:to])
	}
	if uses&UsesValue != 0 {
		dst = appendChained(dst, p, b.Value[from:to])
		dst = appendPacked(dst, p, b.Number[from:to])
	}
	if uses&UsesWho != 0 {
		dst = appendWho(dst, p, b, from, to)
	}
	for i := range b.Args {
		dst = b.Args[i].appendBlock(dst, p, from, to)
	}
	return dst
}

// appendBlock encodes rows from to to-1 of a column: their types, packed; of
// each the bits of a number or the length of a text, packed; then all texts.
func (c *Column) appendBlock(dst []byte, p *packer, from, to int) []byte {
	dst = appendPacked(dst, p, c.kind[from:to])
	values := p.scratch[:to-from]
	first, all := c.value(from), uint64(0)
	for i := range values {
		values[i] = zigzag(c.value(from+i) - first)
		all |= values[i]
	}
	dst = appendValues(binary.AppendVarint(dst, int64(first)), values, all)
	for i := from; i < to; i++ {
		if c.kind[i].Textual() {
			dst = append(dst, c.TextAt(i)...)
		}
	}
	return dst
}

// value is what stands for row i before the texts.
func (c *Column) value(i int) uint64 {
	if c.kind[i].Textual() {
		return c.num[i] >> 32
	}
	return c.num[i]
}

// blockReader decodes one block. After bytes that make no sense it gives zeros.
type blockReader struct {
	data []byte // slack included
	bad  bool
}

// readBlock adds the rows of a block to b, whose series they are of. Behind
// data there are slack bytes.
func readBlock(b *Batch, data []byte) error {
	r := blockReader{data: data[:len(data)+slack]}
	n := int(r.atMost(blockRows))
	b.Time = readChained(b.Time, &r, n)
	b.Index = readChained(b.Index, &r, n)
	r.columns(b, n)
	for i := range b.Args {
		r.column(&b.Args[i], n)
	}
	if r.bad || n == 0 || r.left() > 0 {
		return errSpill
	}
	return nil
}

// columns reads those columns that depend on the kind.
func (r *blockReader) columns(b *Batch, n int) {
	uses := b.Series.Kind.Columns()
	if uses&UsesStack != 0 {
		b.Stack = readPacked(b.Stack, r, n)
	}
	if uses&UsesWeight != 0 {
		b.Weight = readPacked(b.Weight, r, n)
		b.CPU = readPacked(b.CPU, r, n)
	}
	if uses&UsesPhase != 0 {
		b.Phase = readPacked(b.Phase, r, n)
		b.Duration = readPacked(b.Duration, r, n)
	}
	if uses&UsesValue != 0 {
		b.Value = readChained(b.Value, r, n)
		b.Number = readPacked(b.Number, r, n)
	}
	if uses&UsesWho != 0 {
		r.who(b, n)
	}
}

// column reads n arguments. The lengths of texts stand where their ends will.
func (r *blockReader) column(c *Column, n int) {
	c.kind = readPacked(c.kind, r, n)
	c.num = readPacked(c.num, r, n)
	for i := len(c.kind) - n; i < len(c.kind); i++ {
		if c.kind[i] > JSON {
			r.fail()
		} else if c.kind[i].Textual() {
			length := c.num[i]
			c.data = append(c.data, r.bytes(length)...)
			c.num[i] = uint64(len(c.data)) | length<<32
		}
	}
}

// packed reads what stands before the values of n rows, and returns those with
// slack behind them. Width 0 means that there are none.
func (r *blockReader) packed(n int) (first uint64, width int, values []byte) {
	v, size := binary.Varint(r.data[:r.left()])
	if size <= 0 || size == r.left() || r.data[size] > 8 {
		r.fail()
		return 0, 0, nil
	}
	width = int(r.data[size])
	r.data = r.data[size+1:]
	if n*width > r.left() {
		r.fail()
		return 0, 0, nil
	}
	values = r.data
	r.data = r.data[n*width:]
	return uint64(v), width, values
}

// left is how many bytes are left.
func (r *blockReader) left() int { return len(r.data) - slack }

// fail makes all that follows bad.
func (r *blockReader) fail() { r.bad, r.data = true, r.data[r.left():] }

// atMost reads a number that is bad if it is above limit.
func (r *blockReader) atMost(limit uint64) uint64 {
	v, n := binary.Uvarint(r.data[:r.left()])
	if n <= 0 || v > limit {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

// bytes returns the next n bytes, none if there are fewer.
func (r *blockReader) bytes(n uint64) []byte {
	if n > uint64(r.left()) {
		r.fail()
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}
