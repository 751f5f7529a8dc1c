package stream

import (
	"fmt"
	"slices"

	"gprof/stream/internal/pack"
)

// Owner says whose a sample or a marker is.
type Owner struct {
	Thread    int64    // of the system; 0 unknown
	Goroutine int64    // 0 unknown
	Labels    LabelsID // of the program for its work; 0 none
}

// Owner is that of row i.
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
	return w
}

// AppendOwner says whose the last row of b is, whose Time is there already.
func (b *Batch) AppendOwner(w Owner) {
	before := len(b.Time) - 1
	if len(b.Thread) > 0 {
		b.Thread = append(b.Thread, w.Thread)
	} else if w.Thread != 0 {
		b.Thread = append(appendZeros(b.Thread, before), w.Thread)
	}
	if len(b.Goroutine) > 0 {
		b.Goroutine = append(b.Goroutine, w.Goroutine)
	} else if w.Goroutine != 0 {
		b.Goroutine = append(appendZeros(b.Goroutine, before), w.Goroutine)
	}
	if len(b.Labels) > 0 {
		b.Labels = append(b.Labels, w.Labels)
	} else if w.Labels != 0 {
		b.Labels = append(appendZeros(b.Labels, before), w.Labels)
	}
}

// A sparse column is empty while each of its rows is 0, and then takes no time
// and no room. appendSparseRows adds the rows from to to-1 of a sparse column to
// one that has so many rows.
func appendSparseRows[T pack.Integer](column []T, before int, src []T, from, to int) []T {
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

func appendZeros[T pack.Integer](column []T, n int) []T {
	column, added := pack.Extend(column, n)
	clear(added)
	return column
}

// hasOwners says whether any sparse column is there.
func (b *Batch) hasOwners() bool { return len(b.Thread)|len(b.Goroutine)|len(b.Labels) != 0 }

// appendOwnerRows adds the rows from to to-1 of src to the sparse columns of b,
// before they are added to the others.
func (b *Batch) appendOwnerRows(src *Batch, from, to int) {
	n := b.Len()
	b.Thread = appendSparseRows(b.Thread, n, src.Thread, from, to)
	b.Goroutine = appendSparseRows(b.Goroutine, n, src.Goroutine, from, to)
	b.Labels = appendSparseRows(b.Labels, n, src.Labels, from, to)
}

// checkOwners returns an error if a sparse column has neither no row nor all.
func (b *Batch) checkOwners() error {
	for _, c := range []struct {
		name string
		len  int
	}{{"thread", len(b.Thread)}, {"goroutine", len(b.Goroutine)}, {"labels", len(b.Labels)}} {
		if c.len != 0 && c.len != b.used(b.Series.Kind.Columns()&UsesOwner != 0) {
			return b.badColumn(c.name, c.len)
		}
	}
	return nil
}

// The sparse columns of a block that are there.
const (
	hasThread = 1 << iota
	hasGoroutine
	hasLabels
)

// appendOwners encodes the sparse columns: a byte that says which are there, and
// those, packed.
func appendOwners(dst []byte, p *pack.Encoder, b *Batch, from, to int) []byte {
	at := len(dst)
	dst = append(dst, 0)
	if len(b.Thread) > 0 {
		dst[at] |= hasThread
		dst = pack.Append(dst, p, b.Thread[from:to])
	}
	if len(b.Goroutine) > 0 {
		dst[at] |= hasGoroutine
		dst = pack.Append(dst, p, b.Goroutine[from:to])
	}
	if len(b.Labels) > 0 {
		dst[at] |= hasLabels
		dst = pack.Append(dst, p, b.Labels[from:to])
	}
	return dst
}

// owners reads the sparse columns of the last n rows of b.
func (r *blockReader) owners(b *Batch, n int) {
	has := r.AtMost(hasThread | hasGoroutine | hasLabels)
	if has == 0 && !b.hasOwners() {
		return
	}
	before := len(b.Time) - n
	b.Thread = readSparse(b.Thread, r, before, n, has&hasThread != 0)
	b.Goroutine = readSparse(b.Goroutine, r, before, n, has&hasGoroutine != 0)
	b.Labels = readSparse(b.Labels, r, before, n, has&hasLabels != 0)
}

// readSparse adds n rows, which may not be there, to a column behind so many.
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

// markLabels notes that rows refer to these labels.
func (s *Sorter) markLabels(ids []LabelsID) error {
	for _, id := range ids {
		if id < 0 {
			return fmt.Errorf("%w: labels %d", ErrUndefined, id)
		}
		if int(id) >= len(s.labels) {
			s.labels = slices.Grow(s.labels, int(id)+1-len(s.labels))[:int(id)+1]
		}
		s.labels[id] = true
	}
	return nil
}
