package pprof

import (
	"slices"
)

// translation is of what one file refers to, by numbers of its own, into ids of a
// pool, whose lock is held while it is used.
type translation struct {
	from *tables
	to   *Pool

	// By number of the text, or place in the table; below 0: not asked for yet.
	texts   []textID
	modules []moduleID
	sites   []siteID
	// functions by place, without a line; start is below 0 if it was not asked for
	// yet.
	functions []call

	path  []siteID       // of a stack, the innermost first
	known trail[stackID] // of the one before it, as far as the pool has it

	undefined int64 // locations, functions, mappings and names that are not there
	tooDeep   int64 // stacks
}

// maxStack is of how many frames a stack is, at most: it is cut on the outside.
const maxStack = 1 << 16

// reset makes t ready for the tables of a file, all of which are known.
func (t *translation) reset(from *tables, to *Pool) {
	t.from, t.to = from, to
	t.texts = unasked(t.texts, len(from.texts.at))
	t.modules = unasked(t.modules, len(from.mappings.rows))
	t.sites = unasked(t.sites, len(from.locations.rows))
	t.functions = slices.Grow(t.functions[:0], len(from.functions.rows))[:len(from.functions.rows)]
	for i := range t.functions {
		t.functions[i].start = -1
	}
	t.known.reset()
	t.undefined, t.tooDeep = 0, 0
	t.anticipate()
}

// unasked is a list of n ids that nobody has asked for yet, in the memory of
// another.
func unasked[ID ~int32](list []ID, n int) []ID {
	list = slices.Grow(list[:0], n)[:n]
	for i := range list {
		list[i] = -1
	}
	return list
}

// stack is the stack of some locations, the innermost first: its outer part, which
// is all of it while the pool has room for stacks, and the sites of the rest, which
// are valid until the next call.
func (t *translation) stack(locations []uint64) (outer stackID, inner []siteID) {
	t.take(locations)
	outer, inner = t.known.follow(t.path)
	return t.intern(outer, inner)
}

// intern looks sites up one by one, from outer inward, as far as the pool has them,
// or has room for them.
func (t *translation) intern(outer stackID, inner []siteID) (stackID, []siteID) {
	for n := len(inner); n > 0; n = len(inner) {
		id := t.to.child(outer, inner[n-1])
		if id == 0 {
			break
		}
		t.known.add(inner[n-1], id)
		outer, inner = id, inner[:n-1]
	}
	return outer, inner
}

// take makes path of some locations.
func (t *translation) take(locations []uint64) {
	t.path = t.path[:0]
	if len(locations) > maxStack/maxInline {
		locations = t.cut(locations)
	}
	for _, number := range locations {
		at := t.from.locations.find(number)
		if at < 0 {
			t.undefined++
			t.path = append(t.path, 0)
			continue
		}
		id := t.sites[at]
		if id < 0 {
			id = t.site(&t.from.locations.rows[at])
			t.sites[at] = id
		}
		t.path = append(t.path, id)
	}
}

// cut leaves out the outermost locations if they are too many frames.
func (t *translation) cut(locations []uint64) []uint64 {
	depth := 0
	for i, number := range locations {
		depth++
		if at := t.from.locations.find(number); at >= 0 {
			l := &t.from.locations.rows[at]
			depth += max(0, int(l.to-l.from)-1)
		}
		if depth > maxStack {
			t.tooDeep++
			return locations[:i]
		}
	}
	return locations
}

func (t *translation) site(l *location) siteID {
	s := t.place(l)
	lines := t.from.lines[l.from:l.to]
	for i := len(lines) - 1; i > 0; i-- {
		s.outer = t.to.outer.Intern(s.outer, t.to.callers.Intern(t.call(&lines[i])))
	}
	if len(lines) > 0 {
		s.inner = t.call(&lines[0])
	}
	id := t.to.sites.Intern(s)
	t.to.hints.set(t.from.hintOf(l, &s), id)
	return id
}

// place returns a site with the module and the offset of a location.
func (t *translation) place(l *location) site {
	s := site{offset: l.address}
	if l.mapping == 0 {
		return s
	}
	at := t.from.mappings.find(l.mapping)
	if at < 0 {
		t.undefined++
		return s
	}
	m := &t.from.mappings.rows[at]
	if t.modules[at] < 0 {
		t.modules[at] = t.module(m)
	}
	s.module = t.modules[at]
	s.outside = l.address < m.start || l.address >= m.limit && m.limit != 0
	if !s.outside {
		s.offset = l.address - m.start + m.offset
	}
	return s
}

// module interns that of a mapping, 0 if nothing is known of it.
func (t *translation) module(m *mapping) moduleID {
	row := module{file: t.text(m.file), build: t.text(m.build)}
	if row == (module{}) {
		return 0
	}
	return t.to.modules.Intern(row)
}

// call is what a line says.
func (t *translation) call(l *line) call {
	at := t.from.functions.find(l.function)
	if at < 0 {
		if l.function != 0 {
			t.undefined++
		}
		return call{line: l.number}
	}
	f := &t.functions[at]
	if f.start < 0 {
		row := &t.from.functions.rows[at]
		*f = call{name: t.text(row.name), file: t.text(row.file), start: row.start}
		if f.name == 0 {
			f.name = t.text(row.system)
		}
	}
	c := *f
	c.line = l.number
	return c
}

func (t *translation) text(n uint64) textID {
	if n >= uint64(len(t.texts)) {
		t.undefined++
		return 0
	}
	if t.texts[n] < 0 {
		s, _ := t.from.texts.get(n)
		t.texts[n] = t.to.texts.InternBytes(s)
	}
	return t.texts[n]
}
