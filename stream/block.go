package stream

import (
	"encoding/binary"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

// A block holds sorted rows of one series, column by column:
//
//	rows     U (ULEB128)
//	time, index, value                            delta encoding, see package pack
//	stack, weight, cpu, phase, duration, number   packed
//	thread, goroutine, labels, address, span      see appendSparse
//	args     see appendBlock of Column
//
// Columns that the kind does not use are missing. A sample takes about 11
// bytes.
const (
	blockRows = pack.MaxRows
	blockArgs = 32 << 10 // bytes of arguments, unless one row has more
)

// appendBlock encodes rows from to to-1 of b, at least one.
func appendBlock(dst []byte, p *pack.Encoder, b *Batch, from, to int) []byte {
	dst = binary.AppendUvarint(dst, uint64(to-from))
	dst = pack.AppendDelta(dst, p, b.Time[from:to])
	dst = pack.AppendDelta(dst, p, b.Index[from:to])
	uses := b.Series.Kind.Columns()
	if uses&UsesStack != 0 {
		dst = pack.Append(dst, b.Stack[from:to])
	}
	if uses&UsesWeight != 0 {
		dst = pack.Append(dst, b.Weight[from:to])
		dst = pack.Append(dst, b.CPU[from:to])
	}
	if uses&UsesPhase != 0 {
		dst = pack.Append(dst, b.Phase[from:to])
		dst = pack.Append(dst, b.Duration[from:to])
	}
	if uses&UsesValue != 0 {
		dst = pack.AppendDelta(dst, p, b.Value[from:to])
		dst = pack.Append(dst, b.Number[from:to])
	}
	if uses&UsesOwner != 0 {
		dst = appendSparse(dst, p, b, from, to)
	}
	for i := range b.Args {
		dst = b.Args[i].appendBlock(dst, p, from, to)
	}
	return dst
}

// appendBlock encodes rows from to to-1 of a column: their types, packed; the bits of
// each number or the length of each text, packed; then all texts.
func (c *Column) appendBlock(dst []byte, p *pack.Encoder, from, to int) []byte {
	dst = pack.Append(dst, c.kind[from:to])
	values := p.Scratch(to - from)
	for i := range values {
		values[i] = c.value(from + i)
	}
	dst = pack.Append(dst, values)
	for i := from; i < to; i++ {
		if c.kind[i].Textual() {
			dst = append(dst, c.TextAt(i)...)
		}
	}
	return dst
}

// value is the number that is stored for row i: a text's length, or the bits of a number.
func (c *Column) value(i int) uint64 {
	if c.kind[i].Textual() {
		return c.num[i] >> 32
	}
	return c.num[i]
}

// blockReader decodes one block.
type blockReader struct {
	pack.Reader
	words []uint64 // of spans
}

// readBlock adds the rows of a block to b, which is of the same series. There must be
// slack bytes behind data.
func readBlock(b *Batch, data []byte) error {
	r := blockReader{Reader: pack.NewReader(data)}
	return r.rows(b)
}

// rows adds the rows of a block, which goes on to the end.
func (r *blockReader) rows(b *Batch) error {
	n := int(r.AtMost(blockRows))
	b.Time = pack.ReadDelta(b.Time, &r.Reader, n)
	b.Index = pack.ReadDelta(b.Index, &r.Reader, n)
	r.columns(b, n)
	for i := range b.Args {
		r.column(&b.Args[i], n)
	}
	if r.Bad() || n == 0 || r.Left() > 0 {
		return runs.ErrDamaged
	}
	return nil
}

// columns reads the columns that depend on the kind.
func (r *blockReader) columns(b *Batch, n int) {
	uses := b.Series.Kind.Columns()
	if uses&UsesStack != 0 {
		b.Stack = pack.Read(b.Stack, &r.Reader, n)
	}
	if uses&UsesWeight != 0 {
		b.Weight = pack.Read(b.Weight, &r.Reader, n)
		b.CPU = pack.Read(b.CPU, &r.Reader, n)
	}
	if uses&UsesPhase != 0 {
		b.Phase = pack.Read(b.Phase, &r.Reader, n)
		b.Duration = pack.Read(b.Duration, &r.Reader, n)
	}
	if uses&UsesValue != 0 {
		b.Value = pack.ReadDelta(b.Value, &r.Reader, n)
		b.Number = pack.Read(b.Number, &r.Reader, n)
	}
	if uses&UsesOwner != 0 {
		r.sparse(b, n)
	}
}

// column reads n arguments. It first stores lengths of texts where their ends belong.
func (r *blockReader) column(c *Column, n int) {
	c.kind = pack.Read(c.kind, &r.Reader, n)
	c.num = pack.Read(c.num, &r.Reader, n)
	for i := len(c.kind) - n; i < len(c.kind); i++ {
		if c.kind[i] > JSON {
			r.Fail()
		} else if c.kind[i].Textual() {
			length := c.num[i]
			c.data = append(c.data, r.Bytes(length)...)
			c.num[i] = uint64(len(c.data)) | length<<32
		}
	}
}

// The sparse columns of a block that are there.
const (
	hasThread = 1 << iota
	hasGoroutine
	hasLabels
	hasAddress
	hasSpan

	hasAny = 1<<iota - 1
)

// appendSparse encodes the sparse columns: a byte that says which there are, then each of
// them, packed.
func appendSparse(dst []byte, p *pack.Encoder, b *Batch, from, to int) []byte {
	at := len(dst)
	dst = append(dst, 0)
	if len(b.Thread) > 0 {
		dst[at] |= hasThread
		dst = pack.Append(dst, b.Thread[from:to])
	}
	if len(b.Goroutine) > 0 {
		dst[at] |= hasGoroutine
		dst = pack.Append(dst, b.Goroutine[from:to])
	}
	if len(b.Labels) > 0 {
		dst[at] |= hasLabels
		dst = pack.Append(dst, b.Labels[from:to])
	}
	if len(b.Address) > 0 {
		dst[at] |= hasAddress
		dst = pack.Append(dst, b.Address[from:to])
	}
	if len(b.Span) > 0 {
		dst[at] |= hasSpan
		dst = appendSpans(dst, p, b.Span[from:to])
	}
	return dst
}

// sparse reads the sparse columns of the last n rows of b.
func (r *blockReader) sparse(b *Batch, n int) {
	has := r.AtMost(hasAny)
	if has == 0 && !b.hasSparse() {
		return
	}
	before := len(b.Time) - n
	b.Thread = readSparse(b.Thread, r, before, n, has&hasThread != 0)
	b.Goroutine = readSparse(b.Goroutine, r, before, n, has&hasGoroutine != 0)
	b.Labels = readSparse(b.Labels, r, before, n, has&hasLabels != 0)
	b.Address = readSparse(b.Address, r, before, n, has&hasAddress != 0)
	r.spans(b, before, n, has&hasSpan != 0)
}

// readSparse adds n rows to a sparse column that has so many rows before; there says
// whether the block has them.
func readSparse[T pack.Integer](column []T, r *blockReader, before, n int, there bool) []T {
	switch {
	case there && len(column) == 0:
		return pack.Read(appendZeros(column, before), &r.Reader, n)
	case there:
		return pack.Read(column, &r.Reader, n)
	case len(column) > 0:
		return appendZeros(column, n)
	}
	return column
}

// appendSpans encodes spans: the two halves of their traces' ids, and their own, each packed.
func appendSpans(dst []byte, p *pack.Encoder, spans []Span) []byte {
	for _, word := range spanWords {
		words := p.Scratch(len(spans))
		for i := range spans {
			words[i] = *word(&spans[i])
		}
		dst = pack.Append(dst, words)
	}
	return dst
}

// spanWords are the numbers of a span.
var spanWords = [...]func(*Span) *uint64{
	func(s *Span) *uint64 { return &s.Trace[0] }, func(s *Span) *uint64 { return &s.Trace[1] }, func(s *Span) *uint64 { return &s.ID },
}

// spans reads the spans of the last n rows of b, if the block has them.
func (r *blockReader) spans(b *Batch, before, n int, there bool) {
	if !there && len(b.Span) == 0 {
		return
	}
	if len(b.Span) == 0 {
		b.Span = appendZeros(b.Span, before)
	}
	b.Span = appendZeros(b.Span, n)
	if !there {
		return
	}
	for _, word := range spanWords {
		r.words = pack.Read(r.words[:0], &r.Reader, n)
		for i, v := range r.words {
			*word(&b.Span[before+i]) = v
		}
	}
}
