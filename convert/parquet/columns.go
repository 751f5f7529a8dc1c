package parquet

import (
	"slices"

	pq "github.com/parquet-go/parquet-go"

	"gprof/convert/internal/tables"
)

// defined is the definition level of a value.
func defined(c *tables.Column) int {
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

// node is how a column is stored.
func node(c *tables.Column) pq.Node {
	n := values(c)
	if c.Near {
		n = pq.Encoded(n, &pq.DeltaBinaryPacked)
	}
	if c.Null {
		n = pq.Optional(n)
	}
	return n
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
	case tables.Hash:
		return pq.Leaf(pq.FixedLenByteArrayType(tables.KeySize))
	case tables.IDs:
		return pq.List(pq.Leaf(pq.Int32Type))
	case tables.Texts:
		return pq.List(pq.String())
	default:
		return pq.String()
	}
}

// schema is a group whose fields stay in the order in which they were given.
type schema struct {
	pq.Group
	fields []pq.Field
}

func schemaOf(columns []tables.Column) schema {
	s := schema{Group: pq.Group{}}
	places := make(map[string]int, len(columns))
	for i := range columns {
		s.Group[columns[i].Name], places[columns[i].Name] = node(&columns[i]), i
	}
	s.fields = s.Group.Fields()
	slices.SortFunc(s.fields, func(a, b pq.Field) int { return places[a.Name()] - places[b.Name()] })
	return s
}

func (s schema) Fields() []pq.Field { return s.fields }
