package parquet

import (
	"slices"

	pq "github.com/parquet-go/parquet-go"
)

// kind is what the values of a column are.
type kind uint8

const (
	long   kind = iota // INT64
	short              // INT32
	double             // DOUBLE
	flag               // BOOLEAN
	word               // STRING that repeats often
	text               // STRING
	hash               // 16 bytes
	ids                // list of INT32
	texts              // list of STRING
)

// column is one column of a table.
type column struct {
	name  string
	kind  kind
	null  bool // a value may be unknown
	delta bool // a value is near the one before it
}

// defined is the definition level of a value.
func (c *column) defined() int {
	level := 0
	if c.null {
		level++
	}
	if c.kind >= ids {
		level++
	}
	return level
}

func (c *column) node() pq.Node {
	n := c.values()
	if c.null {
		n = pq.Optional(n)
	}
	return n
}

func (c *column) values() pq.Node {
	switch c.kind {
	case long:
		return c.encoded(pq.Leaf(pq.Int64Type))
	case short:
		return c.encoded(pq.Leaf(pq.Int32Type))
	case double:
		return pq.Leaf(pq.DoubleType)
	case flag:
		return pq.Leaf(pq.BooleanType)
	case word:
		return pq.Encoded(pq.String(), &pq.RLEDictionary)
	case text:
		return pq.String()
	case hash:
		return pq.Leaf(pq.FixedLenByteArrayType(len(key{})))
	case ids:
		return pq.List(pq.Leaf(pq.Int32Type))
	default:
		return pq.List(pq.String())
	}
}

func (c *column) encoded(n pq.Node) pq.Node {
	if c.delta {
		return pq.Encoded(n, &pq.DeltaBinaryPacked)
	}
	return n
}

// schema is a group whose fields stay in the order in which they were given.
type schema struct {
	pq.Group
	fields []pq.Field
}

func schemaOf(columns []column) schema {
	s := schema{Group: pq.Group{}}
	for i := range columns {
		s.Group[columns[i].name] = columns[i].node()
	}
	s.fields = s.Group.Fields()
	place := func(f pq.Field) int {
		return slices.IndexFunc(columns, func(c column) bool { return c.name == f.Name() })
	}
	slices.SortFunc(s.fields, func(a, b pq.Field) int { return place(a) - place(b) })
	return s
}

func (s schema) Fields() []pq.Field { return s.fields }
