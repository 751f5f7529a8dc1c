package streamtest

import (
	"errors"
	"fmt"
	"reflect"

	"gprof/stream"
)

// ErrInvalid says that calls of a Sink break a rule of package stream.
var ErrInvalid = errors.New("invalid stream")

// maxSegment is how many rows a segment has at most.
const maxSegment = 8192

// Validate returns a Sink that passes everything on to sink and returns an [ErrInvalid]
// when a rule is broken: the order of calls, of series and of rows; ids and values in
// range; tables in canonical order, without unused rows. It also checks that sink does
// not change the batches.
func Validate(sink stream.Sink) stream.Sink { return &validator{sink: sink} }

type validator struct {
	sink   stream.Sink
	tables *stream.Tables // nil before Begin
	over   string         // why no other call may come
	use    usage

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

// open returns an error if the call may not come now.
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

// keep copies b to to.
func keep(to, b *stream.Batch) {
	to.Reset(b.Series, len(b.Args))
	to.AppendRows(b, 0, b.Len())
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}
