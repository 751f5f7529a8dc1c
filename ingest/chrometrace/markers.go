package chrometrace

import (
	"hash/fnv"
	"math"
	"strconv"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// marker is a row that is being made.
type marker struct {
	line  *line
	at    stream.Time
	phase stream.Phase
	lasts int64
	has   kind
	busy  int64
	id    string
	flow  uint64
	where []byte
	stack stream.StackID
}

// complete is an event with its duration.
func (s *source) complete(e *event, l *line) {
	m := marker{line: l, at: s.at(e), phase: stream.Interval, lasts: e.duration, stack: s.stack(e)}
	if !e.lasts || e.duration < 0 {
		s.odd.durations++
		m.phase, m.lasts = stream.Instant, 0
	}
	m.setBusy(e)
	if e.bind != nil && (e.flowIn || e.flowOut) {
		m.setFlow(e.bind, e)
		if !e.flowOut {
			m.has = m.has&^hasFlow | hasFlowEnd
		}
	}
	if e.hasID() {
		m.setID(e)
	}
	s.mark(e, &m, s.arguments(e.args, nil))
}

// moment is an event without a duration.
func (s *source) moment(e *event, l *line) {
	m := marker{line: l, at: s.at(e), phase: stream.Instant, stack: s.stack(e)}
	switch e.phase {
	case 's', 't':
		m.setFlow(e.identity(), e)
	case 'f':
		m.setFlow(e.identity(), e)
		m.has = m.has&^hasFlow | hasFlowEnd
	}
	if e.hasID() {
		m.setID(e)
	}
	if len(e.where) == 3 && e.where[1] != 't' {
		m.has, m.where = m.has|hasWhere, e.where[1:2]
	}
	s.mark(e, &m, s.arguments(e.args, nil))
}

func (m *marker) setBusy(e *event) {
	if e.busy > 0 {
		m.has, m.busy = m.has|hasBusy, e.busy
	}
}

func (m *marker) setID(e *event) {
	m.has, m.id = m.has|hasID, scalar(e.identity())
}

// setFlow makes a marker part of a flow, which its id and, unless that is one of the whole file, its category and name tell.
func (m *marker) setFlow(id []byte, e *event) {
	h := fnv.New64a()
	h.Write(id)
	if e.bind == nil {
		h.Write(e.cat)
		h.Write(e.name)
	}
	if e.local != nil {
		h.Write(e.pid)
	}
	m.has, m.flow = m.has|hasFlow, h.Sum64()
}

// identity is the id of an event, however far it is known.
func (e *event) identity() []byte {
	for _, id := range [][]byte{e.id, e.local, e.global} {
		if id != nil {
			return id
		}
	}
	return []byte("0")
}

func (e *event) hasID() bool { return e.id != nil || e.local != nil || e.global != nil }

// arguments are the members of args, after those that are there. The members of one called data are
// arguments, too.
func (s *source) arguments(raw []byte, args []argument) []argument {
	each(raw, func(key string, value []byte) {
		if key == "data" && value[0] == '{' {
			each(value, func(inner string, value []byte) { args = add(args, argument{"data." + inner, value}) })
			return
		}
		args = add(args, argument{key, value})
	})
	return args
}

// add adds an argument, which replaces one of the same name.
func add(args []argument, a argument) []argument {
	for i := range args {
		if args[i].name == a.name {
			args[i] = a
			return args
		}
	}
	return append(args, a)
}

// mark makes a row.
func (s *source) mark(e *event, m *marker, args []argument) {
	sh, args := s.shape(e, m.has, args)
	series := stream.Series{Process: m.line.process, Track: m.line.track, Kind: stream.Markers, Event: sh.event}
	b := s.rows.Row(series, len(sh.fields), m.at)
	b.Stack, b.Phase, b.Duration = append(b.Stack, m.stack), append(b.Phase, m.phase), append(b.Duration, m.lasts)
	b.AppendOwner(stream.Owner{Thread: m.line.tid})
	columns := m.append(b.Args)
	fields := sh.fields[len(sh.fields)-len(columns):]
	for i := range columns {
		s.texts += len(args[i].value)
		appendValue(&columns[i], fields[i].Type, args[i].value)
	}
}

// append adds what is there besides args, and returns the columns of those.
func (m *marker) append(c []stream.Column) []stream.Column {
	if m.has&hasBusy != 0 {
		c[0].AppendBits(stream.Int, uint64(m.busy))
		c = c[1:]
	}
	if m.has&hasID != 0 {
		c[0].AppendText([]byte(m.id))
		c = c[1:]
	}
	if m.has&(hasFlow|hasFlowEnd) != 0 {
		c[0].AppendBits(stream.Uint, m.flow)
		c = c[1:]
	}
	if m.has&hasWhere != 0 {
		c[0].AppendText(m.where)
		c = c[1:]
	}
	return c
}

// appendValue adds a value of a field of a type.
func appendValue(c *stream.Column, want stream.Type, value []byte) {
	switch value[0] {
	case 'n':
		c.AppendNull()
	case '"':
		c.AppendText(jsonfile.AppendText(nil, value))
	case '{', '[':
		c.AppendTextual(stream.JSON, value)
	case 't', 'f':
		if want != stream.Int {
			c.AppendTextual(stream.JSON, value)
			return
		}
		c.AppendBits(stream.Int, uint64(map[byte]int{'t': 1}[value[0]]))
	default:
		appendNumber(c, want, value)
	}
}

func appendNumber(c *stream.Column, want stream.Type, value []byte) {
	if n, ok := jsonfile.Int(value); ok && want != stream.Float {
		c.AppendBits(stream.Int, uint64(n))
		return
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		c.AppendTextual(stream.Text, value)
		return
	}
	c.AppendBits(stream.Float, math.Float64bits(f))
}
