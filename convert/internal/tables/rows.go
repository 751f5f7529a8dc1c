package tables

import (
	"gprof/stream"
)

// phases are the names of stream.Phase.
var phases = [...][]byte{stream.Instant: []byte("instant"), stream.Interval: []byte("interval"), stream.PhaseStart: []byte("start"), stream.PhaseEnd: []byte("end")}

func samples(row *rows, b *stream.Batch) {
	stackIDs(row.column(), b.Stack)
	row.column().all(b.Weight)
	cpu := row.column()
	for _, v := range b.CPU {
		cpu.known(v, -1)
	}
}

// allocations writes objects with the sign of their bytes, so that the sum of
// either is what is in use.
func allocations(row *rows, b *stream.Batch) {
	stackIDs(row.column(), b.Stack)
	row.column().all(b.Value)
	objects, before := row.column(), row.column()
	for i, n := range b.Number {
		if b.Value[i] < 0 {
			n = -n
		}
		objects.long(n)
		before.flag(b.Phase[i] == stream.PhaseStart)
	}
}

func stackIDs(c *Values, stacks []stream.StackID) {
	for _, id := range stacks {
		c.id(int32(id))
	}
}

// integers writes arguments that should be numbers.
func integers(c *Values, args *stream.Column) {
	for i := range args.Len() {
		switch args.TypeAt(i) {
		case stream.Int, stream.Uint:
			c.long(int64(args.BitsAt(i)))
		default:
			c.null()
		}
	}
}

func phase(c *Values, phase []stream.Phase) {
	for _, p := range phase {
		c.text(phases[p])
	}
}

func (s *Sink) counts(row *rows, b *stream.Batch) {
	counter := s.tables.Counters.At(b.Series.Counter)
	process := instance(s.tables.Process(b.Series.Process).Instance)
	s.same(row, b.Len(), process, counter.Name)
	s.same(row, b.Len(), process, counter.Category)
	s.same(row, b.Len(), process, units[counter.Unit])
	total := row.column()
	total.flag(counter.Total)
	total.one(b.Len())
	row.column().all(b.Value)
	operations := row.column()
	for _, v := range b.Number {
		operations.known(v, 0)
	}
}

// measurements are those of one measure.
func (s *Sink) measurements(row *rows, b *stream.Batch) {
	measure := s.tables.Counters.At(b.Series.Counter)
	process := instance(s.tables.Process(b.Series.Process).Instance)
	stackIDs(row.column(), b.Stack)
	s.same(row, b.Len(), process, measure.Name)
	s.same(row, b.Len(), process, units[measure.Unit])
	row.column().all(b.Value)
}

// same writes a text of the tables into the next column of n rows.
func (s *Sink) same(row *rows, n int, process, text string) {
	c := row.column()
	c.text(s.bytes(process, []byte(text)))
	c.one(n)
}

// pauses writes what was paused.
func pauses(row *rows, b *stream.Batch) {
	phase(row.column(), b.Phase)
	what := row.column()
	for _, v := range b.Value {
		what.text([]byte(pauseName(v)))
	}
}

func pauseName(reason int64) string {
	switch reason {
	case stream.PausedSampling:
		return "sampling"
	case stream.PausedCollecting:
		return "collecting"
	}
	return "all"
}

func (s *Sink) logs(row *rows, b *stream.Batch) {
	level := row.column()
	for _, v := range b.Value {
		level.text([]byte([...]string{"info", "warn", "error"}[min(max(v, 0), 2)]))
	}
	process := instance(s.tables.Process(b.Series.Process).Instance)
	text := row.column()
	for i := range b.Len() {
		text.text(s.bytes(process, textOf(&b.Args[0], i)))
	}
}

func textOf(c *stream.Column, i int) []byte {
	if c.TypeAt(i) == stream.Text {
		return c.TextAt(i)
	}
	return nil
}

func (s *Sink) pages(row *rows, b *stream.Batch) {
	phase(row.column(), b.Phase)
	last := len(b.Args) - 1
	for i := range last {
		integers(row.column(), &b.Args[i])
	}
	process := instance(s.tables.Process(b.Series.Process).Instance)
	url := row.column()
	for i := range b.Len() {
		if b.Args[last].TypeAt(i) == stream.Text {
			url.text(s.bytes(process, b.Args[last].TextAt(i)))
		} else {
			url.null()
		}
	}
}

// units are the names of stream.Format.
var units = [stream.NumFormats]string{
	stream.FormatInteger: "integer", stream.FormatDecimal: "decimal", stream.FormatText: "text", stream.FormatBytes: "bytes",
	stream.FormatNanoseconds: "ns", stream.FormatTime: "time", stream.FormatPercentage: "percentage", stream.FormatHexadecimal: "hexadecimal",
	stream.FormatBool: "bool", stream.FormatPath: "path", stream.FormatURL: "url", stream.FormatString: "string", stream.FormatFlow: "flow",
	stream.FormatFlowEnd: "flow end", stream.FormatThread: "thread", stream.FormatProcess: "process", stream.FormatWindow: "window",
	stream.FormatPicowatt: "picowatt hours",
}
