package stream

import (
	"fmt"
	"sort"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

// Batch is some rows of one series, as columns of equal length. Columns that the series'
// kind does not use are empty; those of the owner may be.
//
// Rows of a Source's batch may come in any order. Rows of a segment are sorted by (Time,
// Index).
type Batch struct {
	Series Series
	Time   []Time   // of an interval: its start
	Index  []uint64 // position in the process' recording; unique; breaks ties

	Stack    []StackID // 0 none
	Weight   []int64   // how many samples the row stands for
	CPU      []int64   // ns of CPU time since the track's last sample, -1 unknown
	Phase    []Phase
	Duration []int64  // ns, of an Interval; else 0
	Args     []Column // one for each field of the event
	Value    []int64
	Number   []int64 // operations that led to Value, 0 unknown

	// The owner of a row. A column may be empty instead, if all its rows are 0; use Owner
	// and AppendOwner.
	Thread    []int64    // of the system; 0 unknown
	Goroutine []int64    // 0 unknown
	Labels    []LabelsID // that the program has set; 0 none
	Span      []Span     // that the row is part of

	// Address is where the memory of an allocation or a release lies; 0 unknown. It may be empty
	// like the columns of the owner; use AppendAddress.
	Address []int64
}

// Len is the number of rows.
func (b *Batch) Len() int { return len(b.Time) }

// Reset empties b for rows of another series with that many Args columns,
// keeping its memory.
func (b *Batch) Reset(s Series, args int) {
	cols := b.Args[:min(args, cap(b.Args))]
	for i := range cols {
		cols[i].Reset()
	}
	for len(cols) < args {
		cols = append(cols, Column{})
	}
	*b = Batch{Series: s, Time: b.Time[:0], Index: b.Index[:0], Stack: b.Stack[:0], Weight: b.Weight[:0], CPU: b.CPU[:0],
		Phase: b.Phase[:0], Duration: b.Duration[:0], Args: cols, Value: b.Value[:0], Number: b.Number[:0],
		Thread: b.Thread[:0], Goroutine: b.Goroutine[:0], Labels: b.Labels[:0], Span: b.Span[:0], Address: b.Address[:0]}
}

// AppendRows copies rows from to to-1 of src, a batch of the same kind and
// number of arguments, to the end of b.
func (b *Batch) AppendRows(src *Batch, from, to int) {
	if b.hasSparse() || src.hasSparse() {
		b.appendSparse(src, from, to)
	}
	b.Time = append(b.Time, src.Time[from:to]...)
	b.Index = append(b.Index, src.Index[from:to]...)
	b.Stack = appendUsed(b.Stack, src.Stack, from, to)
	b.Weight = appendUsed(b.Weight, src.Weight, from, to)
	b.CPU = appendUsed(b.CPU, src.CPU, from, to)
	b.Phase = appendUsed(b.Phase, src.Phase, from, to)
	b.Duration = appendUsed(b.Duration, src.Duration, from, to)
	b.Value = appendUsed(b.Value, src.Value, from, to)
	b.Number = appendUsed(b.Number, src.Number, from, to)
	for i := range b.Args {
		b.Args[i].appendRows(&src.Args[i], from, to)
	}
}

// Owner is the thread and the goroutine of a sample or a marker, the labels they had, and the
// span of a trace that they worked for. Markers that are spans themselves have their ids as
// arguments.
type Owner struct {
	Thread    int64    // of the system; 0 unknown
	Goroutine int64    // 0 unknown
	Labels    LabelsID // that the program has set; 0 none
	Span      Span
}

// Owner is the owner of row i.
func (b *Batch) Owner(i int) (w Owner) {
	if len(b.Thread) > 0 {
		w.Thread = b.Thread[i]
	}
	if len(b.Goroutine) > 0 {
		w.Goroutine = b.Goroutine[i]
	}
	if len(b.Labels) > 0 {
		w.Labels = b.Labels[i]
	}
	if len(b.Span) > 0 {
		w.Span = b.Span[i]
	}
	return w
}

// AppendOwner sets the owner of the last row of b, after its Time was appended.
func (b *Batch) AppendOwner(w Owner) {
	before := len(b.Time) - 1
	if len(b.Thread) > 0 || w.Thread != 0 {
		b.Thread = appendSparseValue(b.Thread, before, w.Thread)
	}
	if len(b.Goroutine) > 0 || w.Goroutine != 0 {
		b.Goroutine = appendSparseValue(b.Goroutine, before, w.Goroutine)
	}
	if len(b.Labels) > 0 || w.Labels != 0 {
		b.Labels = appendSparseValue(b.Labels, before, w.Labels)
	}
	if len(b.Span) > 0 || w.Span != (Span{}) {
		b.Span = appendSparseValue(b.Span, before, w.Span)
	}
}

// SetSpan sets the span of row i.
func (b *Batch) SetSpan(i int, s Span) {
	if len(b.Span) == 0 {
		b.Span = appendZeros(b.Span, b.Len())
	}
	b.Span[i] = s
}

// AddressAt is the address of row i.
func (b *Batch) AddressAt(i int) int64 {
	if len(b.Address) == 0 {
		return 0
	}
	return b.Address[i]
}

// AppendAddress sets the address of the last row of b, after its Time was appended.
func (b *Batch) AppendAddress(address int64) {
	b.Address = appendSparseValue(b.Address, len(b.Time)-1, address)
}

// appendSparseValue appends a value to a sparse column with so many rows before.
func appendSparseValue[T comparable](column []T, before int, value T) []T {
	var none T
	if len(column) == 0 && value != none {
		column = appendZeros(column, before)
	} else if len(column) == 0 {
		return column
	}
	return append(column, value)
}

// Check returns an [ErrBatch] if the series is not right, if a column of b has another
// length than Time, or if there is a column that the kind does not use.
func (b *Batch) Check() error {
	if err := b.Series.Check(); err != nil {
		return err
	}
	uses := b.Series.Kind.Columns()
	columns := []struct {
		name string
		used bool
		len  int
	}{
		{"index", true, len(b.Index)},
		{"stack", uses&UsesStack != 0, len(b.Stack)},
		{"weight", uses&UsesWeight != 0, len(b.Weight)},
		{"cpu", uses&UsesWeight != 0, len(b.CPU)},
		{"phase", uses&UsesPhase != 0, len(b.Phase)},
		{"duration", uses&UsesPhase != 0, len(b.Duration)},
		{"value", uses&UsesValue != 0, len(b.Value)},
		{"number", uses&UsesValue != 0, len(b.Number)},
	}
	for _, c := range columns {
		if c.len != b.used(c.used) {
			return b.badColumn(c.name, c.len)
		}
	}
	if err := b.checkSparse(); err != nil {
		return err
	}
	for i := range b.Args {
		if n := b.Args[i].Len(); n != b.used(uses&UsesArgs != 0) {
			return b.badColumn(fmt.Sprint("argument ", i), n)
		}
	}
	return nil
}

// checkSparse returns an error if a sparse column is neither empty nor complete.
func (b *Batch) checkSparse() error {
	kind := b.Series.Kind
	owned := kind.Columns()&UsesOwner != 0
	for _, c := range []struct {
		name string
		used bool
		len  int
	}{{"thread", owned, len(b.Thread)}, {"goroutine", owned, len(b.Goroutine)}, {"labels", owned, len(b.Labels)}, {"span", owned, len(b.Span)}, {"address", kind == Allocations, len(b.Address)}} {
		if c.len != 0 && c.len != b.used(c.used) {
			return b.badColumn(c.name, c.len)
		}
	}
	return nil
}

// used is how many rows a column should have.
func (b *Batch) used(used bool) int {
	if used {
		return b.Len()
	}
	return 0
}

func (b *Batch) badColumn(name string, n int) error {
	return fmt.Errorf("%w: %d rows of %v, but column %s has %d", ErrBatch, b.Len(), b.Series.Kind, name, n)
}

// hasSparse reports whether any row may have an owner or an address.
func (b *Batch) hasSparse() bool {
	return len(b.Thread)|len(b.Goroutine)|len(b.Labels)|len(b.Span)|len(b.Address) != 0
}

// until returns the first row, of those from from on, whose key is above bound; b is
// sorted. That row is mostly near, or beyond the end.
func (b *Batch) until(from int, bound runs.Key) int {
	n := b.Len()
	if !bound.Less(b.key(n - 1)) {
		return n
	}
	for step := from; step < min(from+8, n); step++ {
		if bound.Less(b.key(step)) {
			return step
		}
	}
	return from + sort.Search(n-from, func(i int) bool { return bound.Less(b.key(from + i)) })
}

// argBytes is the memory that the arguments of row i take.
func (b *Batch) argBytes(i int) int {
	n := 0
	for k := range b.Args {
		n += 9
		if c := &b.Args[k]; c.kind[i].Textual() {
			n += int(c.num[i] >> 32)
		}
	}
	return n
}

// allArgBytes is the memory that the arguments of rows from to to-1 take.
func (b *Batch) allArgBytes(from, to int) (n int) {
	if len(b.Args) > 0 {
		for i := from; i < to; i++ {
			n += b.argBytes(i)
		}
	}
	return n
}

// appendUsed appends a part of a column, which is empty if the kind does not use it.
func appendUsed[T any](dst, src []T, from, to int) []T {
	if len(src) == 0 {
		return dst
	}
	return append(dst, src[from:to]...)
}

// appendSparse appends the sparse columns of the rows from to to-1 of src to those of b. It
// must be called before the rows are added to the other columns.
func (b *Batch) appendSparse(src *Batch, from, to int) {
	n := b.Len()
	b.Thread = appendSparseRows(b.Thread, n, src.Thread, from, to)
	b.Goroutine = appendSparseRows(b.Goroutine, n, src.Goroutine, from, to)
	b.Labels = appendSparseRows(b.Labels, n, src.Labels, from, to)
	b.Span = appendSparseRows(b.Span, n, src.Span, from, to)
	b.Address = appendSparseRows(b.Address, n, src.Address, from, to)
}

// appendSparseRows appends the rows from to to-1 of a sparse column to one with so many
// rows before. A sparse column is empty as long as all its rows are 0, and takes no time
// or space then.
func appendSparseRows[T any](column []T, before int, src []T, from, to int) []T {
	if len(src) > 0 {
		if len(column) == 0 {
			column = appendZeros(column, before)
		}
		return append(column, src[from:to]...)
	}
	if len(column) > 0 {
		column = appendZeros(column, to-from)
	}
	return column
}

func appendZeros[T any](column []T, n int) []T {
	column, added := pack.Extend(column, n)
	clear(added)
	return column
}
