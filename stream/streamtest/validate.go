package streamtest

import (
	"errors"
	"fmt"
	"reflect"

	"gprof/stream"
)

// ErrInvalid says that what came to a Sink breaks a rule of package stream.
var ErrInvalid = errors.New("invalid stream")

// maxSegment is how many rows a segment has at most.
const maxSegment = 8192

// Validate returns a Sink that passes everything on to sink and returns an
// error, which is an [ErrInvalid], when a rule is broken: the order of calls,
// of series and of rows; ids and values in range; canonical order of the
// tables, with nothing in them that no row refers to. It also sees to it that
// sink leaves the batches alone.
func Validate(sink stream.Sink) stream.Sink { return &validator{sink: sink} }

type validator struct {
	sink   stream.Sink
	tables *stream.Tables // nil before Begin
	over   string         // why no call may come any more
	use    use

	any      bool // a segment was seen; the next two are of the last one
	series   stream.Series
	time     stream.Time
	index    uint64
	old, new stream.Batch // a segment before and after the sink had it
}

func (v *validator) Begin(t *stream.Tables) error {
	if v.tables != nil {
		return invalid("begin is called again")
	}
	if t == nil {
		return invalid("begin has no tables")
	}
	v.tables = t
	if err := checkTables(t); err != nil {
		return err
	}
	v.use.init(t)
	return v.pass(v.sink.Begin(t))
}

func (v *validator) Segment(b *stream.Batch) error {
	if err := v.open("segment"); err != nil {
		return err
	}
	if err := v.check(b); err != nil {
		return err
	}
	v.use.rows(b)
	keep(&v.old, b)
	err := v.sink.Segment(b)
	keep(&v.new, b)
	if err == nil && !reflect.DeepEqual(v.old, v.new) {
		return invalid("the sink changed a segment of %v", v.series.Kind)
	}
	return v.pass(err)
}

func (v *validator) Close() error {
	if err := v.open("close"); err != nil {
		return err
	}
	if err := v.use.check(v.tables); err != nil {
		return err
	}
	err := v.pass(v.sink.Close())
	v.over = "close"
	return err
}

// open returns an error if call may not come now.
func (v *validator) open(call string) error {
	if v.tables == nil {
		return invalid("%s comes before begin", call)
	}
	if v.over != "" {
		return invalid("%s comes after %s", call, v.over)
	}
	return nil
}

// pass returns err, after which no call may come.
func (v *validator) pass(err error) error {
	if err != nil {
		v.over = "an error"
	}
	return err
}

// keep makes to a copy of b.
func keep(to, b *stream.Batch) {
	to.Reset(b.Series, len(b.Args))
	to.AppendRows(b, 0, b.Len())
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}
