package gecko

import (
	"fmt"
	"math"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// part is a value of the file with its path, its name in the ledger. A missing one is empty; one of
// another kind than asked for is noted and empty, too.
type part struct {
	f  *file
	v  *jsonfile.Value
	of string
}

// at is a member of any kind.
func (p part) at(key string) part { return part{p.f, p.v.Get(key), join(p.of, key)} }

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// is reports whether p exists and is of that kind.
func (p part) is(kind jsonfile.Kind) bool {
	if p.v != nil && p.v.Kind != kind {
		p.note(stream.ReasonMalformed)
	}
	return p.v.Is(kind)
}

func (p part) note(reason stream.Reason) { p.f.notes.add(reason, p.of, p.v.Offset()) }

// required notes missing members.
func (p part) required(keys ...string) {
	for _, key := range keys {
		if p.v.Get(key) == nil {
			p.f.notes.add(stream.ReasonUndefined, join(p.of, key), p.v.Offset())
		}
	}
}

// object is a member that is an object.
func (p part) object(key string) part {
	m := p.at(key)
	if !m.is(jsonfile.Object) {
		m.v = nil
	}
	return m
}

// text is a string, "" if there is none.
func (p part) text(key string) string {
	m := p.at(key)
	if !m.is(jsonfile.String) {
		return ""
	}
	return p.f.text(m.v)
}

// truth is a Boolean, false if there is none.
func (p part) truth(key string) bool {
	m := p.at(key)
	return m.is(jsonfile.Bool) && string(p.f.raw(m.v)) == "true"
}

// plain is a string, number or Boolean as a string.
func (p part) plain(key string) string {
	m := p.at(key)
	switch {
	case m.v == nil:
		return ""
	case m.v.Kind == jsonfile.String:
		return p.f.text(m.v)
	case m.v.Kind == jsonfile.Object, m.v.Kind == jsonfile.Array:
		m.note(stream.ReasonMalformed)
		return ""
	}
	return string(p.f.raw(m.v))
}

// integer is a number without a fraction.
func (p part) integer(key string) (int64, bool) {
	m := p.at(key)
	if !m.is(jsonfile.Number) {
		return 0, false
	}
	n, ok := jsonfile.Int(p.f.raw(m.v))
	if !ok {
		m.note(stream.ReasonMalformed)
	}
	return n, ok
}

// count is a number of things, 0 if there is none.
func (p part) count(key string) int64 {
	n, ok := p.integer(key)
	if ok && n < 0 {
		p.at(key).note(stream.ReasonImpossible)
	}
	return max(0, n)
}

// time is a number of milliseconds.
func (p part) time(key string) (stream.Time, bool) {
	m := p.at(key)
	if !m.is(jsonfile.Number) {
		return 0, false
	}
	ns, wrong := p.f.nanos(p.f.raw(m.v))
	if wrong != 0 {
		m.note(wrong)
	}
	return stream.Time(ns), wrong == 0
}

// nanos parses milliseconds since the start of the process, or says why it can't.
func (f *file) nanos(raw []byte) (ns int64, wrong stream.Reason) {
	ns, ok := jsonfile.Fixed(raw, 6)
	switch {
	case !ok:
		return 0, stream.ReasonMalformed
	case ns > math.MaxInt64-f.zero:
		return 0, stream.ReasonImpossible
	}
	return ns, 0
}

// list are the elements of one of [lists].
func (p part) list(key string) (all []part) {
	m := p.at(key)
	if !m.is(jsonfile.Array) {
		return nil
	}
	for i := range m.v.List() {
		all = append(all, part{p.f, &m.v.List()[i], m.of})
	}
	return all
}

// each visits the elements of a list in order. The error is that of a broken list.
func (p part) each(key string, visit func(raw []byte, off int64)) error {
	m := p.at(key)
	if !m.is(jsonfile.Array) {
		return nil
	}
	s := p.f.at(m.v)
	s.Array()
	for {
		raw, off, ok := s.Next()
		if !ok {
			return s.Err()
		}
		if raw != nil {
			visit(raw, off)
		}
	}
}

// objects is each for small objects.
func (p part) objects(key string, visit func(o object)) error {
	of := join(p.of, key)
	return p.each(key, func(raw []byte, off int64) { visit(p.f.object(raw, of, off)) })
}

// texts appends the elements of a list of strings.
func (p part) texts(key string, to *[]string) {
	of := join(p.of, key)
	p.each(key, func(raw []byte, off int64) {
		if raw[0] != '"' {
			p.f.notes.add(stream.ReasonMalformed, of, off)
		}
		*to = append(*to, string(jsonfile.AppendText(nil, raw)))
	})
}

// object is a small object in memory. One without a file, as [parse] makes it, notes nothing.
type object struct {
	f       *file
	of      string
	off     int64
	members map[string][]byte
	broken  bool // there may be more members
}

// object parses the object at off.
func (f *file) object(raw []byte, of string, off int64) object {
	o := parse(raw)
	o.f, o.of, o.off = f, of, off
	if o.broken || !isNull(raw) && raw[0] != '{' {
		f.notes.add(stream.ReasonMalformed, of, off)
	}
	return o
}

func (o object) note(reason stream.Reason, key string) {
	if o.f != nil {
		o.f.notes.add(reason, join(o.of, key), o.off)
	}
}

// has reports whether there is such a member, even null.
func (o object) has(key string) bool { return o.members[key] != nil }

// raw is the JSON of a member of any kind.
func (o object) raw(key string) []byte { return o.members[key] }

// is returns the JSON of a member whose first byte tells the wanted kind.
func (o object) is(key string, first byte) []byte {
	raw := o.members[key]
	if isNull(raw) {
		return nil
	}
	if raw[0] != first {
		o.note(stream.ReasonMalformed, key)
		return nil
	}
	return raw
}

// text is a string, "" if there is none.
func (o object) text(key string) string { return string(jsonfile.AppendText(nil, o.is(key, '"'))) }

// inner is a member that is an object.
func (o object) inner(key string) object {
	return o.owned(key, o.is(key, '{'))
}

func (o object) owned(key string, raw []byte) object {
	inner := parse(raw)
	if inner.f, inner.of, inner.off = o.f, join(o.of, key), o.off; inner.broken {
		o.note(stream.ReasonMalformed, key)
	}
	return inner
}

// elements are the elements of a list.
func (o object) elements(key string) [][]byte {
	all, whole := jsonfile.Elements(nil, o.is(key, '['))
	if !whole {
		o.note(stream.ReasonMalformed, key)
	}
	return all
}

// objects are the elements of a list of objects.
func (o object) objects(key string) (all []object) {
	for _, raw := range o.elements(key) {
		if raw[0] != '{' {
			o.note(stream.ReasonMalformed, key)
		}
		all = append(all, o.owned(key, raw))
	}
	return all
}

// texts are the elements of a list of strings.
func (o object) texts(key string) (all []string) {
	for _, raw := range o.elements(key) {
		if raw[0] != '"' {
			o.note(stream.ReasonMalformed, key)
		}
		all = append(all, string(jsonfile.AppendText(nil, raw)))
	}
	return all
}

// truth is a Boolean, false if there is none.
func (o object) truth(key string) bool {
	raw := string(o.members[key])
	if !isNull([]byte(raw)) && raw != "true" && raw != "false" {
		o.note(stream.ReasonMalformed, key)
	}
	return raw == "true"
}

// integer is a number without a fraction, 0 if there is none.
func (o object) integer(key string) int64 {
	raw := o.members[key]
	n, ok := jsonfile.Int(raw)
	if !ok && !isNull(raw) {
		o.note(stream.ReasonMalformed, key)
	}
	return n
}

// nanos is a number of milliseconds.
func (o object) nanos(key string) (int64, bool) {
	if isNull(o.members[key]) {
		return 0, false
	}
	ns, wrong := o.f.nanos(o.members[key])
	if wrong != 0 {
		o.note(wrong, key)
	}
	return ns, wrong == 0
}

// address is a number that is not negative, possibly as a string.
func (o object) address(key string) uint64 {
	raw := o.members[key]
	if isNull(raw) {
		return 0
	}
	if n, ok := jsonfile.Int(raw); ok && n >= 0 {
		return uint64(n)
	}
	n, ok := parseAddress(string(jsonfile.AppendText(nil, raw)))
	if !ok {
		o.note(stream.ReasonMalformed, key)
	}
	return n
}

// lineOf is n as a line or column, and whether it is one.
func lineOf(n int64) (int32, bool) {
	return int32(max(0, min(n, math.MaxInt32))), n >= 0 && n <= math.MaxInt32
}

// notes counts malformed values until there is a ledger. Parts, tables and objects note them when
// asked for a value, so no caller can miss one. A file is read several times, always front to back,
// so a value counts only if it is behind the last one noted.
type notes struct {
	process int // process being read, -1 none
	all     map[noteKey]*tally
}

type noteKey struct {
	process int
	reason  stream.Reason
	what    string
}

// tally counts values and has the offsets of the first and last.
type tally struct{ count, first, last int64 }

func newNotes() *notes { return &notes{process: -1, all: map[noteKey]*tally{}} }

// add notes the value at off.
func (n *notes) add(reason stream.Reason, what string, off int64) {
	key := noteKey{n.process, reason, what}
	switch t := n.all[key]; {
	case t == nil:
		n.all[key] = &tally{1, off, off}
	case off > t.last:
		t.count, t.last = t.count+1, off
	}
}

// flush writes the notes to a ledger; instances are the names of the processes.
func (n *notes) flush(to *stream.Ledger, instances []string) {
	for key, t := range n.all {
		line := stream.Line{Reason: key.reason, What: key.what, Where: fmt.Sprintf("byte %d", t.first), Count: t.count}
		if t.count > 1 {
			line.Where += " and later"
		}
		if key.process >= 0 {
			line.Process = instances[key.process]
		}
		to.Add(line)
	}
	clear(n.all)
}
