package tables

import (
	"encoding/json"
	"math"
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// markers writes markers of one event to the table of all of them, and to the one of
// their event if that has fields.
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

// markerRows writes the columns that both tables have. Arguments are all there, or
// only those that have no column.
func (s *Sink) markerRows(t *table, p *part, b *stream.Batch, odd bool) *rows {
	event := s.tables.Event(b.Series.Event)
	process := instance(s.tables.Process(b.Series.Process).Instance)
	row := s.beginRows(t, p, b)
	s.same(row, b.Len(), process, event.Name)
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
	stackIDs(row.column(), b.Stack)
	s.objects(row.column(), b, process, odd)
	s.who(row, b)
	return row
}

// fieldColumns writes the columns of an event's own, and ends the rows.
func (s *Sink) fieldColumns(row *rows, e *eventTable, b *stream.Batch) {
	event := s.tables.Event(b.Series.Event)
	process := instance(s.tables.Process(b.Series.Process).Instance)
	of := e.of[b.Series.Event]
	fields := row.next
	filled := newBits(len(e.columns))
	for k := range b.Args {
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

// fits reports whether an argument has the type of its column. Large unsigned
// numbers that only name something are stored by their bits.
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

// objects writes arguments as JSON objects: all that there are, or only the odd ones,
// which no column can hold.
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

// isNull reports whether there is no argument, or JSON that says so.
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
