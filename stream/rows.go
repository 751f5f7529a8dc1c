package stream

import (
	"errors"
	"fmt"
	"sort"

	"gprof/stream/internal/runs"
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
		{"counter", int32(s.Counter), s.Kind == Counts || s.Kind == Measurements},
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
		if c.len != b.used(c.used) {
			return b.badColumn(c.name, c.len)
		}
	}
	if err := b.checkOwners(); err != nil {
		return err
	}
	for i := range b.Args {
		if n := b.Args[i].Len(); n != b.used(uses&UsesArgs != 0) {
			return b.badColumn(fmt.Sprint("argument ", i), n)
		}
	}
	return nil
}

// used is how many rows a column has.
func (b *Batch) used(used bool) int {
	if used {
		return b.Len()
	}
	return 0
}

func (b *Batch) badColumn(name string, n int) error {
	return fmt.Errorf("%w: %d rows of %v, but column %s has %d", ErrBatch, b.Len(), b.Series.Kind, name, n)
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
	if b.hasOwners() || src.hasOwners() {
		b.appendOwnerRows(src, from, to)
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

// appendUsed appends a part of a column that may be unused, which is empty.
func appendUsed[T any](dst, src []T, from, to int) []T {
	if len(src) == 0 {
		return dst
	}
	return append(dst, src[from:to]...)
}

func (c *Column) appendRows(src *Column, from, to int) {
	first := len(c.num)
	c.kind = append(c.kind, src.kind[from:to]...)
	c.num = append(c.num, src.num[from:to]...)
	for i, kind := range c.kind[first:] {
		if kind.Textual() {
			text := src.TextAt(from + i)
			c.data = append(c.data, text...)
			c.num[first+i] = uint64(len(c.data)) | uint64(len(text))<<32
		}
	}
}

// until returns the first row from from on whose key is above bound; b is
// sorted. Mostly it is near, or the end.
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
