package parquet

import (
	pq "github.com/parquet-go/parquet-go"

	"gprof/convert/internal/tables"
)

// place is a column and its number.
type place struct {
	*tables.Column
	leaf int
}

// cells appends the values of a column as the library takes them. Where none may
// be missing, levels mean nothing.
func cells(dst []pq.Value, v *tables.Values, at place) []pq.Value {
	first := len(dst)
	if isList(at.Column) {
		return lists(dst, v, at)
	}
	dst = scalars(dst, v, at.Kind)
	if at.Null {
		unknown := pq.Value{}.Level(0, 0, at.leaf)
		for i := range dst[first:] {
			if v.KnownAt(i) {
				dst[first+i] = dst[first+i].Level(0, 1, at.leaf)
			} else {
				dst[first+i] = unknown
			}
		}
	}
	if v.One {
		for range v.Rows - 1 {
			dst = append(dst, dst[first])
		}
	}
	return dst
}

// scalars appends values without levels.
func scalars(dst []pq.Value, v *tables.Values, kind tables.Kind) []pq.Value {
	switch kind {
	case tables.Long:
		for _, n := range v.Longs {
			dst = append(dst, pq.Int64Value(n))
		}
	case tables.Short:
		for _, n := range v.Shorts {
			dst = append(dst, pq.Int32Value(n))
		}
	case tables.Double:
		for _, n := range v.Doubles {
			dst = append(dst, pq.DoubleValue(n))
		}
	case tables.Flag:
		for _, b := range v.Flags {
			dst = append(dst, pq.BooleanValue(b))
		}
	case tables.Hash:
		for i := range v.Ends {
			dst = append(dst, pq.FixedLenByteArrayValue(v.TextAt(i)))
		}
	default:
		for i := range v.Ends {
			dst = append(dst, pq.ByteArrayValue(v.TextAt(i)))
		}
	}
	return dst
}

// lists appends the members of lists. An empty list is one level less than a
// member, an unknown one is none.
func lists(dst []pq.Value, v *tables.Values, at place) []pq.Value {
	member := func(i int) pq.Value { return pq.Int32Value(v.Shorts[i]) }
	if at.Kind == tables.Texts {
		member = func(i int) pq.Value { return pq.ByteArrayValue(v.TextAt(i)) }
	}
	level := defined(at.Column)
	for row := range v.Rows {
		from, to := v.ListAt(row)
		switch {
		case !v.KnownAt(row):
			dst = append(dst, pq.Value{}.Level(0, 0, at.leaf))
		case from == to:
			dst = append(dst, pq.Value{}.Level(0, level-1, at.leaf))
		}
		for i := from; i < to; i++ {
			dst = append(dst, member(i).Level(min(i-from, 1), level, at.leaf))
		}
	}
	return dst
}
