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

// selection is the rows of a batch that an order has from from to to-1; without an order, the batch's own from from to to-1.
type selection struct {
	from, to int
	order    []int32
}

// row is the number of the i-th row of the order.
func (s *selection) row(i int) int {
	if s.order == nil {
		return i
	}
	return int(s.order[i])
}

// appendBlock encodes rows of b, at least one.
func appendBlock(dst []byte, p *pack.Encoder, b *Batch, of selection) []byte {
	dst = binary.AppendUvarint(dst, uint64(of.to-of.from))
	dst = appendDelta(dst, p, b.Time, &of)
	dst = appendDelta(dst, p, b.Index, &of)
	uses := b.Series.Kind.Columns()
	if uses&UsesStack != 0 {
		dst = appendColumn(dst, p, b.Stack, &of)
	}
	if uses&UsesWeight != 0 {
		dst = appendColumn(dst, p, b.Weight, &of)
		dst = appendColumn(dst, p, b.CPU, &of)
	}
	if uses&UsesPhase != 0 {
		dst = appendColumn(dst, p, b.Phase, &of)
		dst = appendColumn(dst, p, b.Duration, &of)
	}
	if uses&UsesValue != 0 {
		dst = appendDelta(dst, p, b.Value, &of)
		dst = appendColumn(dst, p, b.Number, &of)
	}
	if uses&UsesOwner != 0 {
		dst = appendSparse(dst, p, b, &of)
	}
	for i := range b.Args {
		dst = b.Args[i].appendBlock(dst, p, &of)
	}
	return dst
}

// appendColumn encodes rows of a column.
func appendColumn[T pack.Integer](dst []byte, p *pack.Encoder, column []T, of *selection) []byte {
	if of.order == nil {
		return pack.Append(dst, column[of.from:of.to])
	}
	return pack.Append(dst, pack.Gather(p, column, of.order[of.from:of.to]))
}

// appendDelta is appendColumn in delta encoding.
func appendDelta[T pack.Integer](dst []byte, p *pack.Encoder, column []T, of *selection) []byte {
	if of.order == nil {
		return pack.AppendDelta(dst, p, column[of.from:of.to])
	}
	return pack.AppendDelta(dst, p, pack.Gather(p, column, of.order[of.from:of.to]))
}

// appendBlock encodes rows of a column: their types, packed; the bits of
// each number or the length of each text, packed; then all texts.
func (c *Column) appendBlock(dst []byte, p *pack.Encoder, of *selection) []byte {
	dst = appendColumn(dst, p, c.kind, of)
	values := p.Scratch(of.to - of.from)
	for i := range values {
		values[i] = c.value(of.row(of.from + i))
	}
	dst = pack.Append(dst, values)
	for i := of.from; i < of.to; i++ {
		if row := of.row(i); c.kind[row].Textual() {
			dst = append(dst, c.TextAt(row)...)
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
	columns packedColumns
	words   []uint64 // of spans
}

// packedColumns are those of a block that are decoded only when their rows have a place.
type packedColumns struct {
	uses                                        Columns
	has                                         uint64 // of the sparse ones
	stack, weight, cpu, phase, duration, number pack.Values
	thread, goroutine, labels, address          pack.Values
}

// readBlock adds the rows of a block to b, which is of the same series. There must be
// slack bytes behind data.
func readBlock(b *Batch, data []byte) error {
	r := blockReader{Reader: pack.NewReader(data)}
	return r.rows(b)
}

// rows adds the rows of a block, which goes on to the end.
func (r *blockReader) rows(b *Batch) error {
	before := b.Len()
	err := r.unpacked(b)
	r.columns.place(b, &placing{to: b.Len() - before, at: before, rows: b.Len()})
	return err
}

// unpacked is rows without the packed columns.
func (r *blockReader) unpacked(b *Batch) error {
	n := int(r.AtMost(blockRows))
	b.Time = pack.ReadDelta(b.Time, &r.Reader, n)
	b.Index = pack.ReadDelta(b.Index, &r.Reader, n)
	r.read(b, n)
	for i := range b.Args {
		r.column(&b.Args[i], n)
	}
	if r.Bad() || n == 0 || r.Left() > 0 {
		return runs.ErrDamaged
	}
	return nil
}

// read reads the columns that depend on the kind.
func (r *blockReader) read(b *Batch, n int) {
	c := &r.columns
	c.uses = b.Series.Kind.Columns()
	if c.uses&UsesStack != 0 {
		c.stack = r.Values(n)
	}
	if c.uses&UsesWeight != 0 {
		c.weight, c.cpu = r.Values(n), r.Values(n)
	}
	if c.uses&UsesPhase != 0 {
		c.phase, c.duration = r.Values(n), r.Values(n)
	}
	if c.uses&UsesValue != 0 {
		b.Value = pack.ReadDelta(b.Value, &r.Reader, n)
		c.number = r.Values(n)
	}
	if c.uses&UsesOwner != 0 {
		r.sparse(b, n)
	}
}

// place decodes rows to their places in b.
func (c *packedColumns) place(b *Batch, p *placing) {
	if c.uses&UsesStack != 0 {
		b.Stack = placedValues(b.Stack, &c.stack, p)
	}
	if c.uses&UsesWeight != 0 {
		b.Weight = placedValues(b.Weight, &c.weight, p)
		b.CPU = placedValues(b.CPU, &c.cpu, p)
	}
	if c.uses&UsesPhase != 0 {
		b.Phase = placedValues(b.Phase, &c.phase, p)
		b.Duration = placedValues(b.Duration, &c.duration, p)
	}
	if c.uses&UsesValue != 0 {
		b.Number = placedValues(b.Number, &c.number, p)
	}
	if c.has|uint64(len(b.Thread)|len(b.Goroutine)|len(b.Labels)|len(b.Address)) == 0 {
		return
	}
	b.Thread = placedSparse(b.Thread, &c.thread, c.has&hasThread != 0, p)
	b.Goroutine = placedSparse(b.Goroutine, &c.goroutine, c.has&hasGoroutine != 0, p)
	b.Labels = placedSparse(b.Labels, &c.labels, c.has&hasLabels != 0, p)
	b.Address = placedSparse(b.Address, &c.address, c.has&hasAddress != 0, p)
}

// placedValues decodes rows to their places in a column.
func placedValues[T pack.Integer](column []T, v *pack.Values, p *placing) []T {
	if n := p.rows - len(column); n > 0 {
		column, _ = pack.Extend(column, n) // all rows will be placed
	}
	if p.places == nil {
		pack.Decode(column[p.at:][:p.to-p.from], v, p.from)
	} else {
		pack.Place(column, v, p.from, p.places)
	}
	return column
}

// placedSparse is placedValues for a sparse column, which the block has or not.
func placedSparse[T pack.Integer](column []T, v *pack.Values, there bool, p *placing) []T {
	if len(column) < p.rows && (there || len(column) > 0) {
		column = appendZeros(column, p.rows-len(column))
	}
	if !there {
		return column
	}
	return placedValues(column, v, p)
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
func appendSparse(dst []byte, p *pack.Encoder, b *Batch, of *selection) []byte {
	at := len(dst)
	dst = append(dst, 0)
	if len(b.Thread) > 0 {
		dst[at] |= hasThread
		dst = appendColumn(dst, p, b.Thread, of)
	}
	if len(b.Goroutine) > 0 {
		dst[at] |= hasGoroutine
		dst = appendColumn(dst, p, b.Goroutine, of)
	}
	if len(b.Labels) > 0 {
		dst[at] |= hasLabels
		dst = appendColumn(dst, p, b.Labels, of)
	}
	if len(b.Address) > 0 {
		dst[at] |= hasAddress
		dst = appendColumn(dst, p, b.Address, of)
	}
	if len(b.Span) > 0 {
		dst[at] |= hasSpan
		dst = appendSpans(dst, p, b.Span, of)
	}
	return dst
}

// sparse reads the sparse columns of the last n rows of b.
func (r *blockReader) sparse(b *Batch, n int) {
	c := &r.columns
	c.has = r.AtMost(hasAny)
	for _, one := range [...]struct {
		bit  uint64
		into *pack.Values
	}{{hasThread, &c.thread}, {hasGoroutine, &c.goroutine}, {hasLabels, &c.labels}, {hasAddress, &c.address}} {
		if c.has&one.bit != 0 {
			*one.into = r.Values(n)
		}
	}
	r.spans(b, len(b.Time)-n, n, c.has&hasSpan != 0)
}

// appendSpans encodes spans: the two halves of their traces' ids, and their own, each packed.
func appendSpans(dst []byte, p *pack.Encoder, spans []Span, of *selection) []byte {
	for _, word := range spanWords {
		words := p.Scratch(of.to - of.from)
		for i := range words {
			words[i] = *word(&spans[of.row(of.from+i)])
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
