package gecko

import (
	"fmt"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// Columns of markers. Until Gecko 19 and processed 29 a marker has one time, and its payload tells
// the phase.
const (
	markerName = iota
	markerStart
	markerEnd
	markerPhase
	markerCategory
	markerData
	markerTime
	markerThread
)

// Types of markers that are rows of other kinds.
const (
	typeAllocation = "Native allocation"
	typeJank       = "Jank"
)

// markerTable reads the markers of a thread.
type markerTable struct {
	*table
	r     *reader
	texts *texts
	pages *jsonfile.Value // object that has the thread's pages
	known map[local]*event
	all   []jsonfile.Member // of the row's payload
	typ   []byte            // type of the row
	text  []byte            // scratch
	rest  []byte            // scratch: members without a field of their own, as an unclosed JSON object
	moved int64             // how many of those there were

	typeIs string // member that held the type of the row; "type" is a field if that is another one
}

// local is what a thread's markers tell events apart by.
type local struct {
	name     int
	typ      int32
	category int
}

func (r *reader) markerTable(thread *thread, x *texts) *markerTable {
	t := thread.table("markers", "name", "startTime", "endTime", "phase", "category", "data", "time", "threadId")
	return &markerTable{table: t, r: r, texts: x, pages: r.pagesOf, known: map[local]*event{}}
}

func (m *markerTable) next() bool {
	if !m.table.next() {
		return false
	}
	m.typ = m.typ[:0]
	var whole bool
	if m.all, whole = jsonfile.Members(m.all[:0], m.data()); !whole {
		m.bad(stream.ReasonMalformed, markerData)
	}
	for _, of := range m.all {
		if string(of.Key) == "type" {
			if m.typ = jsonfile.AppendText(m.typ[:0], of.Value); of.Value[0] != '"' && !isNull(of.Value) {
				m.badPayload(stream.ReasonMalformed, "type")
			}
		}
	}
	m.retype()
	return true
}

// data is the payload of the row, nil for none.
func (m *markerTable) data() []byte {
	raw := m.cells[markerData]
	if isNull(raw) {
		return nil
	}
	if raw[0] != '{' {
		m.bad(stream.ReasonMalformed, markerData)
		return nil
	}
	return raw
}

// badPayload notes a payload member by a name that the file can't choose, which bounds the number
// of notes.
func (m *markerTable) badPayload(reason stream.Reason, name string) {
	m.f.notes.add(reason, m.of+".data."+name, m.offs[markerData])
}

func (m *markerTable) payload() object {
	return m.f.object(m.data(), m.of+".data", m.offs[markerData])
}

// event is the event of the row, nil for none.
func (m *markerTable) event() *event {
	if string(m.typ) == typeAllocation || string(m.typ) == typeJank {
		return nil
	}
	types := m.r.survey.types
	number, ok := types[string(m.typ)]
	if !ok {
		number = int32(len(types))
		types[string(m.typ)] = number
	}
	name, ok := m.required(markerName, m.texts.len())
	if !ok {
		name = -1
	}
	category := -1
	if !m.has(markerCategory) {
		category = m.oldCategory()
	} else if i, ok := m.required(markerCategory, len(m.r.categories)); ok {
		category = i
	}
	key := local{name, number, category}
	e := m.known[key]
	if e == nil {
		e = m.r.event(string(m.name()), string(m.typ), category)
		m.known[key] = e
	}
	return e
}

// name is the marker's name.
func (m *markerTable) name() []byte {
	name, _ := m.table.text(markerName, m.texts)
	if string(name) == "DiskIO" {
		return []byte("FileIO")
	}
	return name
}

// old reports whether markers have a single time.
func (m *markerTable) old() bool { return !m.has(markerStart) && m.has(markerTime) }

// field is the field key of a payload member, unless the member is read in another way.
func (m *markerTable) field(key, value []byte) ([]byte, bool) {
	if string(key) == "type" && m.typeIs == "eventType" {
		return []byte(m.typeIs), true
	}
	return key, !m.skips(key, value)
}

func (m *markerTable) skips(key, value []byte) bool {
	switch string(key) {
	case "type", m.typeIs:
		return true
	case "stack", "cause":
		return len(value) > 0 && value[0] == '{'
	case "startTime", "endTime", "interval":
		return m.old() && string(m.typ) != "IPC" && string(m.typ) != "Network"
	}
	return false
}

// markers reads the markers of a thread.
func (r *reader) markers(c *code, thread *thread, s stream.Series, who stream.Owner) {
	m := r.markerTable(thread, c.texts)
	for m.next() && !r.full() {
		at, ok := m.times()
		switch {
		case r.cutShort() && len(m.cells[markerData]) == 0:
			r.lose(stream.ReasonTorn, "markers without a payload", 1)
		case !ok:
			r.lose(stream.ReasonMalformed, "markers without a time", 1)
		case string(m.typ) == typeAllocation:
			r.allocated(c, m, s, at)
		case string(m.typ) == typeJank:
			r.jank(s, at)
		default:
			r.marker(c, m, s, who, at)
		}
	}
	if m.moved > 0 {
		r.t.Ledger.Add(stream.Line{Process: r.instance, Reason: stream.ReasonMoved, What: "members of markers", Where: fmt.Sprintf("in the field %s: their event has %d others", restKey, maxFields), Count: m.moved})
	}
	r.ended(m.table, "markers")
}

// span is when a marker was.
type span struct {
	from, to stream.Time // equals from unless the marker is an interval
	phase    stream.Phase
}

// times is when the row's marker was.
func (m *markerTable) times() (span, bool) {
	if m.old() {
		return m.oldTimes()
	}
	start, hasStart := m.nanos(markerStart)
	end, hasEnd := m.nanos(markerEnd)
	phase, ok := 0, false
	if m.has(markerPhase) {
		phase, ok = m.required(markerPhase, int(stream.PhaseEnd)+1)
	}
	if !ok && hasEnd && hasStart {
		phase = int(stream.Interval)
	}
	from, to := m.r.zero+stream.Time(start), m.r.zero+stream.Time(end)
	switch stream.Phase(phase) {
	case stream.Interval:
		if hasStart && (!hasEnd || to < from) {
			m.bad(stream.ReasonImpossible, markerEnd)
			to = from
		}
		return span{from, to, stream.Interval}, hasStart
	case stream.PhaseEnd:
		return span{to, to, stream.PhaseEnd}, hasEnd
	}
	return span{from, from, stream.Phase(phase)}, hasStart
}

// oldTimes is times for markers whose payload tells them.
func (m *markerTable) oldTimes() (span, bool) {
	at, ok := m.nanos(markerTime)
	s := span{m.r.zero + stream.Time(at), m.r.zero + stream.Time(at), stream.Instant}
	data := m.payload()
	if string(m.typ) == "tracing" {
		switch data.text("interval") {
		case "start":
			s.phase = stream.PhaseStart
		case "end":
			s.phase = stream.PhaseEnd
		}
		return s, ok
	}
	start, hasStart := data.nanos("startTime")
	end, hasEnd := data.nanos("endTime")
	if hasStart && hasEnd && start != end {
		if end < start {
			data.note(stream.ReasonImpossible, "endTime")
		}
		s = span{m.r.zero + stream.Time(start), m.r.zero + stream.Time(max(start, end)), stream.Interval}
	}
	return s, ok
}

// marker adds the row of a marker.
func (r *reader) marker(c *code, m *markerTable, s stream.Series, who stream.Owner, at span) {
	e := m.event()
	if e == nil || e.id == 0 {
		return
	}
	if tid, ok := m.tid(); ok {
		who.Thread = tid
	}
	s.Kind, s.Event = stream.Markers, e.id
	b := r.row(s, at.from, at.to)
	var stack stream.StackID
	row := len(b.Phase)
	m.rest = m.rest[:0]
	for _, of := range m.members() {
		value := of.Value
		key, ok := m.field(of.Key, value)
		if !ok {
			if (string(key) == "stack" || string(key) == "cause") && len(value) > 0 && value[0] == '{' {
				stack = r.stackOf(c, m.f.object(value, m.of+".data."+string(key), m.offs[markerData]), at.from)
			}
		} else if k, ok := e.columns[string(key)]; ok && b.Args[k].Len() == row {
			r.value(&b.Args[k], &e.fields[k], value, m)
		} else if !ok && e.rest > 0 {
			m.keep(key, value)
		}
	}
	if len(m.rest) > 0 {
		b.Args[e.rest-1].AppendTextual(stream.JSON, append(m.rest, '}'))
	}
	if k, ok := e.columns[nameKey]; ok && e.named && b.Args[k].Len() == row {
		b.Args[k].AppendText(m.name())
	}
	for k := range b.Args {
		if b.Args[k].Len() == row {
			b.Args[k].AppendNull()
		}
	}
	b.Stack, b.Phase = append(b.Stack, stack), append(b.Phase, at.phase)
	b.Duration = append(b.Duration, int64(at.to-at.from))
	b.AppendOwner(who)
	r.texts += len(m.data()) + argBytes*len(b.Args)
}

// argBytes is the size of an argument in a batch besides its text.
const argBytes = 9

// keep adds a member to those without a field of their own.
func (m *markerTable) keep(key, value []byte) {
	m.rest = append(m.rest, "{,"[min(len(m.rest), 1)])
	m.rest = compact(appendKey(m.rest, string(key)), value)
	m.moved++
}

// tid is the thread of the row's marker, if known; it may be a string.
func (m *markerTable) tid() (int64, bool) {
	raw := m.cells[markerThread]
	if len(raw) == 0 || raw[0] != '"' {
		return m.integer(markerThread)
	}
	n, ok := jsonfile.Int(raw[1 : len(raw)-1])
	if !ok {
		m.bad(stream.ReasonMalformed, markerThread)
	}
	return n, ok
}

// stackOf is the stack in a payload: in Gecko profiles a thread of one sample, else a stack number
// and a time.
func (r *reader) stackOf(c *code, o object, marker stream.Time) stream.StackID {
	if !isNull(o.raw("samples")) {
		var ok bool
		if o, ok = r.capture(o.inner("samples")); !ok {
			return 0
		}
	}
	if ns, ok := o.nanos("time"); ok && r.zero+stream.Time(ns) != marker {
		r.lose(stream.ReasonUnsupported, "times of the stacks of markers", 1)
	}
	return r.captured(c, o, "stack")
}

// capture is the first row of a sample table in memory, as an object.
func (r *reader) capture(samples object) (object, bool) {
	schema, rows := samples.inner("schema"), samples.elements("data")
	if len(rows) > 1 {
		r.lose(stream.ReasonUnsupported, "further stacks of markers", int64(len(rows)-1))
	}
	row := object{f: samples.f, of: samples.of, off: samples.off, members: map[string][]byte{}}
	if len(rows) == 0 {
		return row, false
	}
	cells, whole := jsonfile.Elements(nil, rows[0])
	if rows[0][0] != '[' || !whole {
		samples.note(stream.ReasonMalformed, "data")
	}
	for _, key := range []string{"stack", "time"} {
		if !schema.has(key) {
			continue
		}
		if i := schema.integer(key); i < 0 || i >= maxColumns {
			schema.note(stream.ReasonImpossible, key)
		} else if i < int64(len(cells)) {
			row.members[key] = cells[i]
		}
	}
	return row, true
}

// allocated adds an allocation that came as a marker.
func (r *reader) allocated(c *code, m *markerTable, s stream.Series, at span) {
	var stack stream.StackID
	o := m.payload()
	if inner := o.inner("stack"); len(inner.members) > 0 {
		stack = r.stackOf(c, inner, at.from)
	}
	bytes, ok := jsonfile.Fixed(o.raw("size"), 0)
	if !ok {
		r.lose(stream.ReasonMalformed, "allocations", 1)
		return
	}
	r.allocation(s, at.from, bytes, stack, o.raw("memoryAddress"), o.raw("threadId"))
}

// jank adds the delay that a viewer's Jank marker stands for, and its end, since a later delay may
// be longer.
func (r *reader) jank(s stream.Series, at span) {
	if r.delayed {
		return
	}
	s.Kind = stream.Delays
	for _, delay := range []stream.Time{at.to - at.from, 0} {
		b := r.row(s, at.to, at.to)
		b.Value, b.Number = append(b.Value, int64(delay)), append(b.Number, 0)
	}
}
