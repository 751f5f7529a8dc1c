package streamtest

import (
	"fmt"
	"math"

	"gprof/stream"
)

// Row is one row of any kind, in a form that is easy to write and to compare. Fields that
// the kind does not use are zero.
type Row struct {
	stream.Series
	Time  stream.Time
	Index uint64

	Stack    stream.StackID
	Weight   int64
	CPU      int64
	Phase    stream.Phase
	Duration int64
	Args     []any // nil, int64, uint64, float64, string or JSON; also int when written
	Value    int64
	Number   int64
	Address  int64

	stream.Owner
}

// JSON is an argument that is a JSON value, not a text.
type JSON string

// Rows returns the rows of b.
func Rows(b *stream.Batch) []Row {
	out := make([]Row, b.Len())
	uses := b.Series.Kind.Columns()
	for i := range out {
		r := Row{Series: b.Series, Time: b.Time[i], Index: b.Index[i]}
		if uses&stream.UsesStack != 0 {
			r.Stack = b.Stack[i]
		}
		if uses&stream.UsesWeight != 0 {
			r.Weight, r.CPU = b.Weight[i], b.CPU[i]
		}
		if uses&stream.UsesPhase != 0 {
			r.Phase, r.Duration = b.Phase[i], b.Duration[i]
		}
		if uses&stream.UsesValue != 0 {
			r.Value, r.Number = b.Value[i], b.Number[i]
		}
		r.Owner, r.Address = b.Owner(i), b.AddressAt(i)
		for k := range b.Args {
			r.Args = append(r.Args, Arg(&b.Args[k], i))
		}
		out[i] = r
	}
	return out
}

// Arg returns row i of a column: nil, int64, uint64, float64, string or JSON.
func Arg(c *stream.Column, i int) any {
	switch c.TypeAt(i) {
	case stream.Int:
		return int64(c.BitsAt(i))
	case stream.Uint:
		return c.BitsAt(i)
	case stream.Float:
		return math.Float64frombits(c.BitsAt(i))
	case stream.Text:
		return string(c.TextAt(i))
	case stream.JSON:
		return JSON(c.TextAt(i))
	}
	return nil
}

// AppendArg adds a row to a column.
func AppendArg(c *stream.Column, arg any) {
	switch v := arg.(type) {
	case nil:
		c.AppendNull()
	case int:
		c.AppendBits(stream.Int, uint64(v))
	case int64:
		c.AppendBits(stream.Int, uint64(v))
	case uint64:
		c.AppendBits(stream.Uint, v)
	case float64:
		c.AppendBits(stream.Float, math.Float64bits(v))
	case string:
		c.AppendText([]byte(v))
	case JSON:
		c.AppendTextual(stream.JSON, []byte(v))
	default:
		panic(fmt.Sprintf("streamtest: argument of type %T", arg))
	}
}

// AppendRow adds r to b, which must be of its series and have a column for each of its
// arguments.
func AppendRow(b *stream.Batch, r Row) {
	uses := r.Kind.Columns()
	b.Time, b.Index = append(b.Time, r.Time), append(b.Index, r.Index)
	if uses&stream.UsesStack != 0 {
		b.Stack = append(b.Stack, r.Stack)
	}
	if uses&stream.UsesWeight != 0 {
		b.Weight, b.CPU = append(b.Weight, r.Weight), append(b.CPU, r.CPU)
	}
	if uses&stream.UsesPhase != 0 {
		b.Phase, b.Duration = append(b.Phase, r.Phase), append(b.Duration, r.Duration)
	}
	if uses&stream.UsesValue != 0 {
		b.Value, b.Number = append(b.Value, r.Value), append(b.Number, r.Number)
	}
	if uses&stream.UsesOwner != 0 {
		b.AppendOwner(r.Owner)
	}
	b.AppendAddress(r.Address)
	for k := range b.Args {
		AppendArg(&b.Args[k], r.Args[k])
	}
}
