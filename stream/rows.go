package stream

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"unsafe"
)

// ErrBatch says that a batch is not what its series asks for: a fault of the
// Source.
var ErrBatch = errors.New("bad batch")

// Check returns an error, which is an [ErrBatch], if an id of s is missing that
// its kind needs, or is there although the kind has none.
func (s Series) Check() error {
	if s.Kind >= numKinds {
		return fmt.Errorf("%w: kind %d is unknown", ErrBatch, s.Kind)
	}
	ids := []struct {
		name string
		id   int32
		want bool
	}{
		{"process", int32(s.Process), true},
		{"track", int32(s.Track), s.Kind.Tracked()},
		{"event", int32(s.Event), s.Kind == Markers},
		{"counter", int32(s.Counter), s.Kind == Counts},
	}
	for _, i := range ids {
		if (i.id != 0) != i.want {
			return fmt.Errorf("%w: %v of %s %d", ErrBatch, s.Kind, i.name, i.id)
		}
	}
	return nil
}

// Check returns an error, which is an [ErrBatch], if the series is not right, a
// column of b has another length than Time, or a column is there although the
// kind does not use it.
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
		if err := b.checkColumn(c.name, c.used, c.len); err != nil {
			return err
		}
	}
	for i := range b.Args {
		if err := b.checkColumn(fmt.Sprint("argument ", i), uses&UsesArgs != 0, b.Args[i].Len()); err != nil {
			return err
		}
	}
	return nil
}

func (b *Batch) checkColumn(name string, used bool, n int) error {
	want := 0
	if used {
		want = b.Len()
	}
	if n != want {
		return fmt.Errorf("%w: %d rows of %v, but column %s has %d, want %d", ErrBatch, b.Len(), b.Series.Kind, name, n, want)
	}
	return nil
}

// Args is how many Args columns the rows of a series have.
func (t *Tables) Args(s Series) int {
	switch s.Kind {
	case Markers:
		return len(t.Event(s.Event).Fields)
	case Overheads:
		return len(OverheadFields)
	case Logs:
		return 1
	case Pages:
		return len(PageFields)
	}
	return 0
}

// AppendRows copies rows from to to-1 of src, a batch of the same kind and
// number of arguments, to the end of b.
func (b *Batch) AppendRows(src *Batch, from, to int) {
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

// appendUsed appends a part of a column that may be unused, which is empty.
func appendUsed[T any](dst, src []T, from, to int) []T {
	if len(src) == 0 {
		return dst
	}
	return append(dst, src[from:to]...)
}

func (c *Column) appendRows(src *Column, from, to int) {
	for i := from; i < to; i++ {
		switch kind := src.kind[i]; kind {
		case Null:
			c.AppendNull()
		case Text:
			c.AppendText(src.TextAt(i))
		default:
			c.AppendBits(kind, src.num[i])
		}
	}
}

// sortKey is what rows of a series are ordered by.
type sortKey struct {
	time  Time
	index uint64
}

func (k sortKey) compare(l sortKey) int {
	if k.time != l.time {
		return cmp.Compare(k.time, l.time)
	}
	return cmp.Compare(k.index, l.index)
}

func (b *Batch) key(i int) sortKey { return sortKey{b.Time[i], b.Index[i]} }

// sort orders the rows of b. Rows mostly come in order.
func (b *Batch) sort() {
	for i := 1; i < b.Len(); i++ {
		if b.key(i).compare(b.key(i-1)) < 0 {
			b.permute(b.sortedRows())
			return
		}
	}
}

// sortedRows returns the row numbers in the order of their keys.
func (b *Batch) sortedRows() []int32 {
	type row struct {
		sortKey
		n int32
	}
	rows := make([]row, b.Len())
	for i := range rows {
		rows[i] = row{b.key(i), int32(i)}
	}
	slices.SortFunc(rows, func(x, y row) int { return x.compare(y.sortKey) })
	order := make([]int32, len(rows))
	for i := range rows {
		order[i] = rows[i].n
	}
	return order
}

// permute makes row order[i] the i-th. The texts of a column stay where they
// are, because rows know where theirs is.
func (b *Batch) permute(order []int32) {
	b.Time = gather(b.Time, order)
	b.Index = gather(b.Index, order)
	b.Stack = gather(b.Stack, order)
	b.Weight = gather(b.Weight, order)
	b.CPU = gather(b.CPU, order)
	b.Phase = gather(b.Phase, order)
	b.Duration = gather(b.Duration, order)
	b.Value = gather(b.Value, order)
	b.Number = gather(b.Number, order)
	for i := range b.Args {
		c := &b.Args[i]
		c.num, c.kind = gather(c.num, order), gather(c.kind, order)
	}
}

func gather[T any](column []T, order []int32) []T {
	if len(column) == 0 {
		return column
	}
	out := make([]T, len(order))
	for i, n := range order {
		out[i] = column[n]
	}
	return out
}

// until returns the first row from from whose key is above bound; b is sorted.
func (b *Batch) until(from int, bound sortKey) int {
	n := b.Len()
	if b.key(n-1).compare(bound) <= 0 {
		return n
	}
	return from + sort.Search(n-from, func(i int) bool { return b.key(from+i).compare(bound) > 0 })
}

// argBytes is the memory that the arguments of row i take.
func (b *Batch) argBytes(i int) int {
	n := 0
	for k := range b.Args {
		n += 9
		if c := &b.Args[k]; c.kind[i] == Text {
			n += int(c.num[i] >> 32)
		}
	}
	return n
}

// memory is how many bytes b holds, used or not.
func (b *Batch) memory() int64 {
	n := 8*(cap(b.Time)+cap(b.Index)+cap(b.Weight)+cap(b.CPU)+cap(b.Duration)+cap(b.Value)+cap(b.Number)) +
		4*cap(b.Stack) + cap(b.Phase) + cap(b.Args)*int(unsafe.Sizeof(Column{}))
	for i := range b.Args {
		c := &b.Args[i]
		n += 8*cap(c.num) + cap(c.kind) + cap(c.data)
	}
	return int64(n)
}
