package chrometrace

import (
	"bytes"
	"cmp"
	"slices"

	"gprof/stream"
)

// interval is one whose end hasn't come.
type interval struct {
	line     *line
	at       stream.Time
	phase    byte
	cat      []byte
	name     []byte
	args     []byte
	identity []byte // of those that may overlap
	busy     int64  // CPU time that its beginning tells
	order    int64
	stack    stream.StackID
}

// unended are the intervals that may overlap, by what tells them apart.
type unended struct {
	async map[string][]interval
	key   []byte // scratch
	order int64
	bytes int64 // that all open intervals take
}

// intervalBytes is about what one takes besides its texts.
const intervalBytes = 256

func (o *unended) begin() { o.async = map[string][]interval{} }

// interval is the beginning of one.
func (s *source) interval(e *event, l *line) interval {
	s.open.order++
	i := interval{line: l, at: s.at(e), phase: e.phase, busy: e.busy, order: s.open.order, stack: s.stack(e)}
	all := bytes.Join([][]byte{e.cat, e.name, e.args}, nil)
	i.cat, i.name, i.args = all[:len(e.cat)], all[len(e.cat):len(e.cat)+len(e.name)], all[len(e.cat)+len(e.name):]
	if e.hasID() {
		i.identity = bytes.Clone(e.identity())
	}
	s.open.bytes += i.bytes()
	return i
}

func (i *interval) bytes() int64 {
	return intervalBytes + int64(len(i.cat)+len(i.name)+len(i.args)+len(i.identity))
}

// push begins an interval of a thread.
func (s *source) push(e *event, l *line) { l.begun = append(l.begun, s.interval(e, l)) }

// pop ends the innermost one of a thread.
func (s *source) pop(e *event, l *line) {
	n := len(l.begun) - 1
	if n < 0 {
		s.odd.unpaired++
		return
	}
	i := l.begun[n]
	l.begun[n] = interval{}
	l.begun = l.begun[:n]
	s.finish(&i, e)
}

// asyncKey tells intervals apart: by category and id, and the process if the id is known only there.
func (s *source) asyncKey(e *event) []byte {
	o := &s.open
	o.key = o.key[:0]
	if e.local != nil {
		o.key = append(o.key, e.pid...)
	}
	for _, part := range [][]byte{e.cat, e.scope, e.identity()} {
		o.key = append(append(o.key, 0), part...)
	}
	return o.key
}

// beginAsync begins an interval that may overlap others.
func (s *source) beginAsync(e *event, l *line) {
	key := string(s.asyncKey(e))
	s.open.async[key] = append(s.open.async[key], s.interval(e, l))
}

// endAsync ends the last one of its name, or the last.
func (s *source) endAsync(e *event, _ *line) {
	key := s.asyncKey(e)
	all := s.open.async[string(key)]
	at := len(all) - 1
	for k := at; k >= 0; k-- {
		if bytes.Equal(all[k].name, e.name) {
			at = k
			break
		}
	}
	if at < 0 {
		s.odd.unpaired++
		return
	}
	i := all[at]
	if len(all) == 1 {
		delete(s.open.async, string(key))
	} else {
		s.open.async[string(key)] = slices.Delete(all, at, at+1)
	}
	s.finish(&i, e)
}

// finish makes a row of an interval that e ends. It has the args of both.
func (s *source) finish(i *interval, e *event) {
	s.open.bytes -= i.bytes()
	m := marker{line: i.line, at: i.at, phase: stream.Interval, lasts: int64(s.at(e) - i.at), stack: i.stack}
	if m.lasts < 0 {
		s.odd.durations++
		m.phase, m.lasts = stream.Instant, 0
	}
	s.close(i, &m, s.arguments(e.args, s.arguments(i.args, nil)))
}

// close makes the row.
func (s *source) close(i *interval, m *marker, args []argument) {
	e := event{phase: i.phase, cat: i.cat, name: i.name, args: i.args, id: i.identity, busy: i.busy}
	m.setBusy(&e)
	if i.identity != nil {
		m.setID(&e)
	}
	s.mark(&e, m, args)
}

// unfinished makes rows of the intervals that did not end, in the order in which they began.
func (s *source) unfinished() {
	var all []interval
	for _, l := range s.lines {
		all = append(all, l.begun...)
		l.begun = nil
	}
	for _, of := range s.open.async { // sorted below
		all = append(all, of...)
	}
	slices.SortFunc(all, func(a, b interval) int { return cmp.Compare(a.order, b.order) })
	for k := range all {
		i := &all[k]
		s.close(i, &marker{line: i.line, at: i.at, phase: stream.PhaseStart, stack: i.stack}, s.arguments(i.args, nil))
	}
	s.open.bytes = 0
}
