package tables

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// phases are the names of stream.Phase.
var phases = [...][]byte{stream.Instant: []byte("instant"), stream.Interval: []byte("interval"), stream.PhaseStart: []byte("start"), stream.PhaseEnd: []byte("end")}

func (s *Sink) samples(row *rows, b *stream.Batch) {
	s.stackIDs(row.column(), b.Stack)
	row.column().all(b.Weight)
	row.column().someKnown(b.CPU, -1)
}

// allocations writes objects with the sign of their bytes, so that sums are what is in use.
func (s *Sink) allocations(row *rows, b *stream.Batch) {
	s.stackIDs(row.column(), b.Stack)
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

func (s *Sink) stackIDs(c *Values, stacks []stream.StackID) {
	c.Rows += len(stacks)
	known := c.grow(len(stacks))
	for i, id := range stacks {
		n := s.tree.number[id]
		c.Shorts = append(c.Shorts, n)
		known[i] = n != 0
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
	if len(phase) > 0 && !slices.ContainsFunc(phase, func(p stream.Phase) bool { return p != phase[0] }) {
		c.text(phases[phase[0]])
		c.one(len(phase))
		return
	}
	for _, p := range phase {
		c.text(phases[p])
	}
}

func (s *Sink) counts(row *rows, b *stream.Batch) {
	counter := s.tables.Counters.At(b.Series.Counter)
	process := s.tables.Process(b.Series.Process).InstanceName()
	s.same(row, b.Len(), process, counter.Name)
	s.same(row, b.Len(), process, counter.Category)
	s.same(row, b.Len(), process, units[counter.Unit])
	total := row.column()
	total.flag(counter.Total)
	total.one(b.Len())
	row.column().all(b.Value)
	row.column().someKnown(b.Number, 0)
}

// measurements are those of one measure.
func (s *Sink) measurements(row *rows, b *stream.Batch) {
	measure := s.tables.Counters.At(b.Series.Counter)
	process := s.tables.Process(b.Series.Process).InstanceName()
	s.stackIDs(row.column(), b.Stack)
	s.same(row, b.Len(), process, measure.Name)
	s.same(row, b.Len(), process, units[measure.Unit])
	row.column().all(b.Value)
}

// same writes a text to the next column of n rows.
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
	process := s.tables.Process(b.Series.Process).InstanceName()
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
	process := s.tables.Process(b.Series.Process).InstanceName()
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
	stream.FormatPicowatt: "picowatt hours", stream.FormatTraceID: "trace id", stream.FormatSpanID: "span id",
}

// markers writes markers of one event to the common table, and to their event's if it has fields.
func (s *Sink) markers(p *part, b *stream.Batch) error {
	t, err := s.open(p, kindTables[stream.Markers])
	if err != nil {
		return err
	}
	s.markerRows(t, p, b, false).end(b.Len())
	if s.rows.flush(); t.err != nil {
		return t.err
	}
	e := s.events[b.Series.Event-1]
	if len(e.columns) == 0 {
		return nil
	}
	if t, err = s.openAs(p, e.table, e.definition()); err != nil {
		return err
	}
	s.again = true
	defer func() { s.again = false }()
	s.fieldColumns(s.markerRows(t, p, b, true), e, b)
	s.rows.flush()
	return t.err
}

// markerRows writes the common columns, with all arguments, or only those without a column.
func (s *Sink) markerRows(t *table, p *part, b *stream.Batch, odd bool) *rows {
	event := s.tables.Event(b.Series.Event)
	process := s.tables.Process(b.Series.Process).InstanceName()
	row := s.beginRows(t, p, b)
	s.names(row, b, event, process)
	s.same(row, b.Len(), process, s.category(event.Category))
	phase(row.column(), b.Phase)
	duration := row.column()
	for i, d := range b.Duration {
		if b.Phase[i] == stream.Interval {
			duration.long(d)
		} else {
			duration.null()
		}
	}
	s.stackIDs(row.column(), b.Stack)
	s.objects(row.column(), b, process, odd)
	s.who(row, b)
	s.spans(row, b)
	return row
}

// names writes the names of markers.
func (s *Sink) names(row *rows, b *stream.Batch, event *stream.Event, process string) {
	own := event.NameArg()
	if own < 0 {
		s.same(row, b.Len(), process, event.Name)
		return
	}
	c := row.column()
	for i := range b.Len() {
		name := []byte(event.Name)
		if b.Args[own].TypeAt(i) == stream.Text {
			name = b.Args[own].TextAt(i)
		}
		c.text(s.bytes(process, name))
	}
}

// fieldColumns writes the columns of an event's fields, and ends the rows.
func (s *Sink) fieldColumns(row *rows, e *eventTable, b *stream.Batch) {
	event := s.tables.Event(b.Series.Event)
	process := s.tables.Process(b.Series.Process).InstanceName()
	of := e.of[b.Series.Event]
	fields := row.next
	filled := newBits(len(e.columns))
	for k := range b.Args {
		if of[k] == ownName {
			continue
		}
		filled.set(of[k])
		s.arguments(&row.columns[fields+of[k]], &b.Args[k], &event.Fields[k], process)
	}
	for i := range e.columns {
		if !filled.has(i) {
			row.columns[fields+i].nulls(b.Len())
		}
	}
	row.end(b.Len())
}

// arguments writes the arguments that their column can hold.
func (s *Sink) arguments(c *Values, args *stream.Column, f *stream.EventField, process string) {
	for i := range args.Len() {
		switch {
		case !fits(args, i, f):
			c.null()
		case args.TypeAt(i) == stream.Float:
			c.double(math.Float64frombits(args.BitsAt(i)))
		case args.TypeAt(i).Textual():
			c.text(s.bytes(process, args.TextAt(i)))
		default:
			c.long(int64(args.BitsAt(i)))
		}
	}
}

// fits reports whether an argument has the type of its column. Large unsigned numbers that are just
// ids are stored by their bits.
func fits(args *stream.Column, i int, f *stream.EventField) bool {
	switch args.TypeAt(i) {
	case stream.Int:
		return kindOf(*f) == Long
	case stream.Uint:
		return kindOf(*f) == Long && (args.BitsAt(i) <= math.MaxInt64 || f.Format == stream.FormatHexadecimal || f.Format == stream.FormatFlow || f.Format == stream.FormatFlowEnd)
	case stream.Float:
		return kindOf(*f) == Double
	case stream.JSON:
		return kindOf(*f) >= Word && string(args.TextAt(i)) != "null"
	case stream.Text:
		return kindOf(*f) >= Word
	}
	return false
}

// objects writes arguments as JSON objects: all, or only those that no column can hold.
func (s *Sink) objects(c *Values, b *stream.Batch, process string, odd bool) {
	event, keys := s.tables.Event(b.Series.Event), s.events[b.Series.Event-1].keys[b.Series.Event]
	for i := range b.Len() {
		object := s.object[:0]
		for k := range b.Args {
			if isNull(&b.Args[k], i) || odd && fits(&b.Args[k], i, &event.Fields[k]) {
				continue
			}
			object = append(object, "{,"[min(len(object), 1)])
			object = append(object, keys[k]...)
			object = s.appendArgument(object, &b.Args[k], i, process)
		}
		if s.object = object; len(object) == 0 {
			c.null()
			continue
		}
		c.text(append(object, '}'))
	}
}

// isNull reports whether an argument is missing or null.
func isNull(args *stream.Column, i int) bool {
	t := args.TypeAt(i)
	return t == stream.Null || t == stream.JSON && string(args.TextAt(i)) == "null"
}

func (s *Sink) appendArgument(dst []byte, args *stream.Column, i int, process string) []byte {
	switch bits := args.BitsAt(i); args.TypeAt(i) {
	case stream.Int:
		return strconv.AppendInt(dst, int64(bits), 10)
	case stream.Uint:
		return strconv.AppendUint(dst, bits, 10)
	case stream.Float:
		f := math.Float64frombits(bits)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return jsontext.AppendString(dst, strconv.FormatFloat(f, 'g', -1, 64))
		}
		return jsontext.AppendFloat(dst, f)
	case stream.JSON:
		if text := s.bytes(process, args.TextAt(i)); json.Valid(text) {
			return append(dst, text...)
		}
	}
	return jsontext.AppendString(dst, s.bytes(process, args.TextAt(i)))
}

// who writes the owners of b's rows.
func (s *Sink) who(row *rows, b *stream.Batch) {
	sparse(row.column(), b.Thread, b.Len())
	sparse(row.column(), b.Goroutine, b.Len())
	texts := row.column()
	if len(b.Labels) == 0 {
		texts.null()
		texts.one(b.Len())
	}
	for _, id := range b.Labels {
		if id == 0 {
			texts.null()
		} else {
			texts.text(s.labelText(id))
		}
	}
}

// spans writes the spans that b's rows are part of, or, of markers, are themselves.
func (s *Sink) spans(row *rows, b *stream.Batch) {
	traces, ids := row.column(), row.column()
	own := s.ownSpans(b)
	if len(b.Span) == 0 && len(b.Labels) == 0 && own == nil {
		traces.null()
		traces.one(b.Len())
		ids.null()
		ids.one(b.Len())
		return
	}
	for i := range b.Len() {
		var of stream.Span
		if own != nil {
			of = own(i)
		}
		if of == (stream.Span{}) {
			of = s.spanOf(b.Owner(i))
		}
		span(traces, ids, of)
	}
}

// span writes a span, unknown if it is none.
func span(traces, ids *Values, of stream.Span) {
	if of == (stream.Span{}) {
		traces.null()
		ids.null()
		return
	}
	var bytes [KeySize]byte
	traces.text(of.AppendTrace(bytes[:0]))
	if of.ID == 0 {
		ids.null()
		return
	}
	ids.text(of.AppendID(bytes[:0]))
}

// spanOf is [stream.Tables.SpanOf], which is asked once about a set of labels.
func (s *Sink) spanOf(w stream.Owner) stream.Span {
	if w.Span != (stream.Span{}) || w.Labels == 0 {
		return w.Span
	}
	if s.labelSpans == nil {
		s.labelSpans = make(map[stream.LabelsID]stream.Span)
	}
	of, ok := s.labelSpans[w.Labels]
	if !ok {
		of = s.tables.SpanOf(w)
		s.labelSpans[w.Labels] = of
	}
	return of
}

// ownSpans returns the spans that markers are, nil if they are none.
func (s *Sink) ownSpans(b *stream.Batch) func(i int) stream.Span {
	if b.Series.Kind != stream.Markers {
		return nil
	}
	fields := s.tables.Event(b.Series.Event).SpanFields()
	if !fields.Any() {
		return nil
	}
	return func(i int) stream.Span {
		of, _ := fields.At(b, i)
		return of
	}
}

// sparse writes n numbers of which 0 is unknown; none if all are.
func sparse(c *Values, numbers []int64, n int) {
	if len(numbers) == 0 {
		c.null()
		c.one(n)
	}
	c.someKnown(numbers, 0)
}

// labelText is a label set as a JSON object.
func (s *Sink) labelText(id stream.LabelsID) []byte {
	if s.labels == nil {
		s.labels = make([][]byte, s.tables.Labels.Len()+1)
	}
	if s.labels[id] == nil {
		object := []byte{'{'}
		for key, value := range s.tables.Labels.At(id).All() {
			if len(object) > 1 {
				object = append(object, ',')
			}
			object = append(jsontext.AppendString(object, s.bytes("", []byte(key))), ':')
			object = jsontext.AppendString(object, s.bytes("", []byte(value)))
		}
		s.labels[id] = append(object, '}')
	}
	return s.labels[id]
}
