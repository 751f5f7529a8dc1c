package parquet

import (
	"slices"

	pq "github.com/parquet-go/parquet-go"

	"gprof/convert/internal/tables"
)

// level is a definition level.
func level(c *tables.Column) int {
	level := 0
	if c.Null {
		level++
	}
	if isList(c) {
		level++
	}
	return level
}

func isList(c *tables.Column) bool { return c.Kind == tables.IDs || c.Kind == tables.Texts }

// node is the Parquet schema of a column whose first values are known.
func node(c *tables.Column, first *tables.Values) pq.Node {
	n := values(c)
	switch {
	case c.Near:
		n = pq.Encoded(n, &pq.DeltaBinaryPacked)
	case c.Kind == tables.Long && few(first):
		n = pq.Encoded(n, &pq.RLEDictionary)
	case c.Kind == tables.Long:
		n = pq.Encoded(n, &pq.DeltaBinaryPacked)
	}
	if c.Dense {
		n = pq.Compressed(n, &pq.Uncompressed)
	}
	if c.Null {
		n = pq.Optional(n)
	}
	return n
}

// eachOften is how often each value comes, on average, of those that have a dictionary.
const eachOften = 8

// few reports whether integers are few that repeat, such as goroutines, statuses, or numbers of pages. Most others take
// less as differences.
func few(v *tables.Values) bool {
	known, n := map[int64]bool{}, 0
	for i, x := range v.Longs {
		if v.KnownAt(i) {
			n++
			known[x] = true
		}
	}
	return n >= eachOften && len(known) <= n/eachOften
}

func values(c *tables.Column) pq.Node {
	switch c.Kind {
	case tables.Long:
		return pq.Leaf(pq.Int64Type)
	case tables.Short:
		return pq.Leaf(pq.Int32Type)
	case tables.Double:
		return pq.Leaf(pq.DoubleType)
	case tables.Flag:
		return pq.Leaf(pq.BooleanType)
	case tables.Word:
		return pq.Encoded(pq.String(), &pq.RLEDictionary)
	case tables.Hash, tables.SpanID:
		if isFixed(c) {
			return pq.Leaf(pq.FixedLenByteArrayType(c.Kind.Size()))
		}
		return pq.Leaf(pq.ByteArrayType)
	case tables.IDs:
		return pq.List(pq.Leaf(pq.Int32Type))
	case tables.Texts:
		return pq.List(pq.String())
	default:
		return pq.String()
	}
}

// isFixed reports whether a column's type has the length of its values. For pages without any,
// the library's index of such a column lacks their bounds, which strict readers refuse: columns
// that may be unknown have another type.
func isFixed(c *tables.Column) bool { return c.Kind.Size() > 0 && !c.Null }

// schema is a group with ordered fields.
type schema struct {
	pq.Group
	fields []pq.Field
}

// schemaOf is the schema of a table whose first rows are known.
func schemaOf(columns []tables.Column, first []tables.Values) schema {
	s := schema{Group: pq.Group{}}
	places := make(map[string]int, len(columns))
	for i := range columns {
		s.Group[columns[i].Name], places[columns[i].Name] = node(&columns[i], &first[i]), i
	}
	s.fields = s.Group.Fields()
	slices.SortFunc(s.fields, func(a, b pq.Field) int { return places[a.Name()] - places[b.Name()] })
	return s
}

func (s schema) Fields() []pq.Field { return s.fields }

// place is a column and its number.
type place struct {
	*tables.Column
	leaf int
}

// cells appends the values of a column for the library.
func cells(dst []pq.Value, v *tables.Values, at place) []pq.Value {
	if isList(at.Column) {
		return lists(dst, v, at)
	}
	first, n := len(dst), len(v.Longs)+len(v.Shorts)+len(v.Doubles)+len(v.Flags)+len(v.Ends)
	dst = slices.Grow(dst, v.Rows)[:first+v.Rows]
	cells := dst[first:]
	scalars(cells[:n], v, at.Column)
	if at.Null {
		levels(cells[:n], v.Known)
	}
	for n < len(cells) { // all are the one that is there
		n += copy(cells[n:], cells[:n])
	}
	return dst
}

// levels says which values are known, unless none may be missing.
func levels(cells []pq.Value, known []bool) {
	for i := range cells {
		if known[i] {
			cells[i].SetDefinitionLevel(1)
		} else {
			cells[i] = pq.Value{}
		}
	}
}

// scalars sets cells to values without levels.
func scalars(cells []pq.Value, v *tables.Values, c *tables.Column) {
	switch c.Kind {
	case tables.Long:
		for i, n := range v.Longs {
			cells[i] = pq.Int64Value(n)
		}
	case tables.Short:
		for i, n := range v.Shorts {
			cells[i] = pq.Int32Value(n)
		}
	case tables.Double:
		for i, n := range v.Doubles {
			cells[i] = pq.DoubleValue(n)
		}
	case tables.Flag:
		for i, b := range v.Flags {
			cells[i] = pq.BooleanValue(b)
		}
	default:
		if isFixed(c) {
			for i := range cells {
				cells[i] = pq.FixedLenByteArrayValue(v.TextAt(i))
			}
			return
		}
		from := int32(0)
		for i, end := range v.Ends[:len(cells)] {
			cells[i] = pq.ByteArrayValue(v.Bytes[from:end])
			from = end
		}
	}
}

// lists appends the members of lists. An empty list is one level below a member, an unknown one at
// level 0.
func lists(dst []pq.Value, v *tables.Values, at place) []pq.Value {
	level := level(at.Column)
	for row := range v.Rows {
		from, to := v.ListAt(row)
		switch {
		case !v.KnownAt(row):
			dst = append(dst, pq.Value{}.Level(0, 0, at.leaf))
		case from == to:
			dst = append(dst, pq.Value{}.Level(0, level-1, at.leaf))
		}
		members := len(dst)
		if at.Kind == tables.Texts {
			for i := from; i < to; i++ {
				dst = append(dst, pq.ByteArrayValue(v.TextAt(i)))
			}
		} else {
			for _, n := range v.Shorts[from:to] {
				dst = append(dst, pq.Int32Value(n))
			}
		}
		for i := members; i < len(dst); i++ {
			dst[i].SetDefinitionLevel(level)
			dst[i].SetRepetitionLevel(min(i-members, 1))
		}
	}
	return dst
}
