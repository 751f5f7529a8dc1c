package chrometrace

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"strconv"
	"unicode/utf8"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/timeline"
	"gprof/stream"
)

// lanes are the tids for one of our tracks. The first is its own, the others have the same name.
type lanes struct {
	*timeline.Lanes
	tids []int64
	name string
}

func (s *Sink) newLanes(first int64, name string) *lanes {
	l := &lanes{tids: []int64{first}, name: name}
	l.Lanes = timeline.NewLanes(func(e timeline.Event) { s.writeEvent(l, e) })
	return l
}

// eventForm is what all markers of an event have.
type eventForm struct {
	name, category           string
	nameArg                  int
	fields                   []stream.EventField
	keys                     [][]byte // of the fields, with a colon
	goroutine, thread, label string
}

func (s *Sink) formOf(e *stream.Event) (f eventForm) {
	f = eventForm{name: e.Name, category: "Other", nameArg: e.NameArg(), fields: e.Fields,
		goroutine: timeline.OwnName(e, "goroutine"), thread: timeline.OwnName(e, "thread"), label: timeline.OwnName(e, "label")}
	if e.Category != 0 {
		f.category = s.tables.Categories.At(e.Category).Title()
	}
	for i := range e.Fields {
		f.keys = append(f.keys, append(jsontext.AppendString(nil, e.Fields[i].Name), ':'))
	}
	return f
}

// addMarkers collects the markers of an event.
func (s *Sink) addMarkers(b *stream.Batch) {
	if s.lanes == nil {
		s.lanes = s.newLanes(s.tid, s.tables.Tracks.At(s.track).Name)
	}
	if s.marks.Begin(b.Series) {
		s.form = s.formOf(s.tables.Event(b.Series.Event))
	}
	for i := range b.Time {
		s.collect(b, i)
	}
}

// collect adds row i to the marks: its flows, and the rest as members of an event.
func (s *Sink) collect(b *stream.Batch, i int) {
	m, f := timeline.MarkAt(b, i), &s.form
	body := s.appendFlows(s.body[:0], b, i)
	name := []byte(nil)
	if k := f.nameArg; k >= 0 && b.Args[k].TypeAt(i) == stream.Text {
		name = b.Args[k].TextAt(i)
		hash := fnv.New64a()
		hash.Write(name)
		m.Match = hash.Sum64()
		body = appendHead(body, name, f.category)
	} else {
		body = appendHead(body, []byte(f.name), f.category)
	}
	if id := b.Stack[i]; id != 0 {
		body = strconv.AppendUint(append(body, `,"sf":`...), uint64(id), 10)
	}
	body = append(body, `,"args":{`...)
	from := len(body)
	for k := range f.fields {
		body = appendArgument(body, f.keys[k], f.fields[k].Format, &b.Args[k], i)
	}
	body = s.appendOwner(body, f, b.Owner(i))
	if len(body) > from {
		body = body[:len(body)-1]
	}
	s.body = append(body, '}')
	m.Body = s.body
	s.marks.Add(&m)
}

// appendHead appends the name and the category of an event.
func appendHead(dst, name []byte, category string) []byte {
	dst = jsontext.AppendString(append(dst, `,"name":`...), name)
	return jsontext.AppendString(append(dst, `,"cat":`...), category)
}

// appendOwner appends who a row is of, with a comma behind each.
func (s *Sink) appendOwner(dst []byte, f *eventForm, o stream.Owner) []byte {
	number := func(key string, n int64) {
		dst = append(jsontext.AppendString(dst, key), ':')
		dst = append(strconv.AppendInt(dst, n, 10), ',')
	}
	if o.Goroutine != 0 {
		number(f.goroutine, o.Goroutine)
	}
	if o.Thread != 0 && o.Thread != s.tid {
		number(f.thread, o.Thread)
	}
	if o.Labels == 0 {
		return dst
	}
	dst = append(jsontext.AppendString(dst, f.label), ":{"...)
	for key, value := range s.tables.Labels.At(o.Labels).All() {
		dst = append(jsontext.AppendString(dst, key), ':')
		dst = append(jsontext.AppendString(dst, value), ',')
	}
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, "},"...)
}

// appendArgument appends a member with a comma, nothing without a value.
func appendArgument(dst, key []byte, format stream.Format, c *stream.Column, i int) []byte {
	typ := c.TypeAt(i)
	if typ == stream.Null {
		return dst
	}
	dst = append(dst, key...)
	switch bits := c.BitsAt(i); {
	case typ == stream.JSON && json.Valid(c.TextAt(i)) && utf8.Valid(c.TextAt(i)):
		dst = append(dst, c.TextAt(i)...)
	case typ.Textual():
		dst = jsontext.AppendString(dst, c.TextAt(i))
	case typ == stream.Float:
		dst = appendFloat(dst, math.Float64frombits(bits))
	case format == stream.FormatBool:
		dst = strconv.AppendBool(dst, bits != 0)
	case format == stream.FormatHexadecimal, format == stream.FormatFlow, format == stream.FormatFlowEnd:
		dst = append(appendHex(append(dst, '"'), bits), '"')
	case typ == stream.Uint:
		dst = strconv.AppendUint(dst, bits, 10)
	default:
		dst = strconv.AppendInt(dst, int64(bits), 10)
	}
	return append(dst, ',')
}

func appendHex(dst []byte, n uint64) []byte { return strconv.AppendUint(append(dst, "0x"...), n, 16) }

// appendFloat appends a number; JSON has none that is not finite.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return jsontext.AppendString(dst, strconv.FormatFloat(f, 'g', -1, 64))
	}
	return jsontext.AppendFloat(dst, f)
}

// appendFlows appends the flows of row i: their number, and of each the id and whether it ends there.
func (s *Sink) appendFlows(dst []byte, b *stream.Batch, i int) []byte {
	at := len(dst)
	dst = append(dst, 0)
	for k := range s.form.fields {
		format, c := s.form.fields[k].Format, &b.Args[k]
		if format != stream.FormatFlow && format != stream.FormatFlowEnd || c.TypeAt(i) == stream.Null || dst[at] == math.MaxUint8 {
			continue
		}
		id := c.BitsAt(i)
		if c.TypeAt(i).Textual() {
			hash := fnv.New64a()
			hash.Write(c.TextAt(i))
			id = hash.Sum64()
		}
		ends := byte(0)
		if format == stream.FormatFlowEnd {
			ends = 1
		}
		dst = append(binary.LittleEndian.AppendUint64(dst, id), ends)
		dst[at]++
	}
	return dst
}

// flowSize is how long a flow is.
const flowSize = 8 + 1

// writeEvent writes what a lane has.
func (s *Sink) writeEvent(l *lanes, e timeline.Event) {
	if e.Kind == timeline.Close {
		return // a complete event says it
	}
	if e.Lane == len(l.tids) {
		l.tids = append(l.tids, s.numbers.Another())
		s.name("thread_name", "name", l.tids[e.Lane], l.name)
	}
	tid := l.tids[e.Lane]
	flows := 1 + flowSize*int(e.Body[0])
	s.keepFlows(tid, e, e.Body[1:flows])
	var event []byte
	switch e.Kind {
	case timeline.Open:
		event = append(s.at('X', tid, e.At), `,"dur":`...)
		event = jsontext.AppendFixed(event, int64(e.End-e.At), 3)
	case timeline.Start:
		event = s.at('B', tid, e.At)
	case timeline.End:
		event = s.at('E', tid, e.At)
	default:
		event = append(s.at('i', tid, e.At), `,"s":"t"`...)
	}
	s.end(append(event, e.Body[flows:]...))
}

// endLanes writes what was collected.
func (s *Sink) endLanes() {
	if s.lanes == nil {
		return
	}
	s.marks.Merge(s.lanes.Place)
	s.lanes.Finish()
	if n := s.lanes.Moved; n > 0 {
		s.lost.Add(s.process, stream.ReasonCut, "intervals that overlap too many others", n)
	}
	s.lanes = nil
}
