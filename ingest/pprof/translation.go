package pprof

import (
	"slices"
)

// translation maps what one file refers to, by numbers of its own, to ids of a pool, which is
// locked meanwhile.
type translation struct {
	from *tables
	to   *Pool

	// By number of the text, or index in the table; below 0: not looked up yet.
	texts   []textID
	modules []moduleID
	sites   []siteID
	direct  []siteID // by number of a location; below 0: ask siteAt
	// functions are by index, without a line; start is below 0 until looked up.
	functions []call

	undefined int64 // missing locations, functions, mappings and names
	tooDeep   int64 // stacks
}

// maxStack bounds the frames of a stack, which is cut on the outside.
const maxStack = 1 << 16

// reset prepares t for a file whose tables are complete.
func (t *translation) reset(from *tables, to *Pool) {
	t.from, t.to = from, to
	t.texts = unasked(t.texts, len(from.texts.at))
	t.modules = unasked(t.modules, len(from.mappings.rows))
	t.sites = unasked(t.sites, len(from.locations.rows))
	t.functions = slices.Grow(t.functions[:0], len(from.functions.rows))[:len(from.functions.rows)]
	for i := range t.functions {
		t.functions[i].start = -1
	}
	t.undefined, t.tooDeep = 0, 0
	t.prefetch()
	t.direct = unasked(t.direct, len(from.locations.dense))
	for number, place := range from.locations.dense {
		if place > 0 {
			t.direct[number] = t.sites[place-1]
		}
	}
}

// unasked is a list of n ids not looked up yet, in the memory of another.
func unasked[ID ~int32](list []ID, n int) []ID {
	list = slices.Grow(list[:0], n)[:n]
	for i := range list {
		list[i] = -1
	}
	return list
}

// stack is the stack of a path and its hash, of which the pool had the outer part: that and more of it, all while the
// pool has room, and the remaining sites, valid as long as the path.
func (t *translation) stack(outer stackID, inner, path []siteID, hash uint32) (stackID, []siteID) {
	if id := t.to.wholes.find(hash, path); id != 0 { // since then
		return id, nil
	}
	for n := len(inner); n > 0; n = len(inner) {
		id := t.to.child(outer, inner[n-1])
		if id == 0 {
			break
		}
		outer, inner = id, inner[:n-1]
	}
	if len(inner) == 0 && outer != 0 && !t.to.isSpare && (t.to.adding == nil || t.to.adding.repeats()) {
		t.to.wholes.add(hash, path, outer, t.to.max()/wholesShare)
	}
	return outer, inner
}

// appendPath appends the sites of some locations, the innermost first, and returns their hash.
func (t *translation) appendPath(path []siteID, locations []uint64) (with []siteID, hash uint32) {
	if len(locations) > maxStack/maxInline {
		locations = t.cut(locations)
	}
	h := uint64(0)
	for _, number := range locations {
		id := t.siteAt(number)
		h = mix(h, id)
		path = append(path, id)
	}
	return path, uint32(h >> 32)
}

// mix adds a site to a hash, whose upper half is good.
func mix(h uint64, id siteID) uint64 { return (h + uint64(id)) * 0x9e3779b97f4a7c15 }

// appendPacked is appendPath for locations as most files have them: packed, each known and of one or two bytes. It is
// not ok for others, of which nothing is appended.
func (t *translation) appendPacked(path []siteID, packed []byte) (with []siteID, hash uint32, ok bool) {
	if len(packed) > maxStack/maxInline {
		return path, 0, false
	}
	with, direct, h := path, t.direct, uint64(0)
	for i := 0; i < len(packed); i++ {
		number := uint(packed[i])
		if number >= 0x80 {
			if i++; i == len(packed) || packed[i] >= 0x80 {
				return path, 0, false
			}
			number = number&0x7f | uint(packed[i])<<7
		}
		if number >= uint(len(direct)) || direct[number] < 0 {
			return path, 0, false
		}
		id := direct[number]
		h = mix(h, id)
		with = append(with, id)
	}
	return with, uint32(h >> 32), true
}

// siteAt is the site of a location.
func (t *translation) siteAt(number uint64) siteID {
	at := t.from.locations.find(number)
	if at < 0 {
		t.undefined++
		return 0
	}
	id := t.sites[at]
	if id < 0 {
		id = t.site(&t.from.locations.rows[at])
		t.sites[at] = id
		if number < uint64(len(t.direct)) {
			t.direct[number] = id
		}
	}
	return id
}

// cut drops the outermost locations beyond maxStack frames.
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
	s := site{spot: t.spot(l)}
	lines := t.from.lines[l.from:l.to]
	for i := len(lines) - 1; i > 0; i-- {
		s.outer = t.to.outer.Intern(s.outer, t.to.callers.Intern(t.call(&lines[i])))
	}
	if len(lines) > 0 {
		s.inner = t.call(&lines[0])
	}
	id := t.to.sites.Intern(s)
	t.to.hints.set(t.from.hintOf(l, s.spot), id)
	return id
}

// spot is where the code of a location lies.
func (t *translation) spot(l *location) spot {
	s := spot{offset: l.address}
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

// module interns the module of a mapping, 0 if nothing is known of it.
func (t *translation) module(m *mapping) moduleID {
	row := module{file: t.text(m.file), build: t.text(m.build)}
	if row == (module{}) {
		return 0
	}
	return t.to.modules.Intern(row)
}

// call is the call of a line.
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
		switch {
		case f.name == 0:
			f.name = t.text(row.system)
		case row.system != row.name:
			f.linked = t.linked(f.name, row.system)
		}
	}
	c := *f
	c.line = l.number
	return c
}

// linked is the linker's name of a function, 0 if that is its name.
func (t *translation) linked(name textID, system uint64) textID {
	switch id := t.text(system); id {
	case 0:
		return noText
	case name:
		return 0
	default:
		return id
	}
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

// ahead is how many locations are looked up at once.
const ahead = 64

// guess is a location, and the site that it may be.
type guess struct {
	spot  spot
	key   uint32 // of its hint; 0: not looked up
	near  hint   // where that is, unless others have its place
	id    siteID // 0: not found
	found site
	name  string // of its innermost function
	end   byte   // its last byte, read only to have the name in the cache
}

// prefetch looks up what the pool mostly has already before samples ask for it one by one. The
// cache misses of many lookups overlap: 11 % less time for a thousand files. A guessed site is
// compared with the file's text, so nothing is hashed. Locations that are not found, or odd,
// are left to site.
func (t *translation) prefetch() {
	var guesses [ahead]guess
	all := t.from.locations.rows
	for from := 0; from < len(all); from += ahead {
		rows := all[from:min(from+ahead, len(all))]
		t.guess(rows, guesses[:len(rows)])
		for i := range rows {
			if g := &guesses[i]; g.id != 0 && t.is(&rows[i], g) {
				t.sites[from+i] = g.id
			}
		}
	}
}

// guess guesses the sites of some locations. Each loop does one memory access for all of them, and
// does not branch on what it finds, so that the misses overlap.
func (t *translation) guess(rows []location, guesses []guess) {
	for i := range rows {
		l, g := &rows[i], &guesses[i]
		g.key = 0
		if l.mapping == 0 || t.from.mappings.find(l.mapping) >= 0 {
			g.spot = t.spot(l)
			g.key = t.from.hintOf(l, g.spot)
		}
	}
	for i := range guesses {
		guesses[i].near = t.to.hints.near(guesses[i].key)
	}
	for i := range guesses {
		g := &guesses[i]
		if g.id = g.near.id; g.near.key != g.key {
			g.id = t.to.hints.find(g.key)
		}
		if g.id != 0 {
			g.found = t.to.sites.At(g.id)
		}
	}
	for i := range guesses {
		if g := &guesses[i]; g.id != 0 {
			g.name = t.to.texts.At(g.found.inner.name)
		}
	}
	for i := range guesses {
		if g := &guesses[i]; g.id != 0 && g.name != "" {
			g.end = g.name[len(g.name)-1]
		}
	}
}

// is reports whether a location is the guessed site.
func (t *translation) is(l *location, g *guess) bool {
	s, lines := &g.found, t.from.lines[l.from:l.to]
	if s.spot != g.spot {
		return false
	}
	if len(lines) == 0 {
		return s.inner == (call{}) && s.outer == 0
	}
	if !t.isCall(&lines[0], &s.inner) {
		return false
	}
	outer := s.outer
	for i := range lines[1:] {
		if outer == 0 {
			return false
		}
		var id callID
		outer, id = t.to.outer.At(outer)
		if c := t.to.callers.At(id); !t.isCall(&lines[1+i], &c) {
			return false
		}
	}
	return outer == 0
}

// isCall reports whether a line is c. Functions without a name have a substitute, and some have
// another one for the linker: those are left to site.
func (t *translation) isCall(l *line, c *call) bool {
	at := t.from.functions.find(l.function)
	if at < 0 || l.number != c.line {
		return false
	}
	f := &t.from.functions.rows[at]
	return f.start == c.start && (f.system == f.name && c.linked == 0 || c.linked > 0 && t.isText(f.system, c.linked)) && c.name != 0 && t.isText(f.name, c.name) && t.isText(f.file, c.file)
}

// isText reports whether a text is that of an id.
func (t *translation) isText(n uint64, id textID) bool {
	if n >= uint64(len(t.texts)) {
		return false
	}
	if t.texts[n] < 0 {
		if s, _ := t.from.texts.get(n); string(s) != t.to.texts.At(id) {
			return false
		}
		t.texts[n] = id
	}
	return t.texts[n] == id
}

// hints is a lossy hash table: it may miss or be wrong, so callers check what it finds. It finds a
// site by the numbers of a location, before any text is looked up. The zero hints are empty and
// ready to use.
type hints struct {
	table []hint // its length is a power of two
	n     int
}

type hint struct {
	key uint32
	id  siteID // 0: free
}

// maxProbes bounds the search, so that hostile files can't slow it down.
const maxProbes = 8

// hintOf is by what the site of a location is found.
func (t *tables) hintOf(l *location, s spot) (key uint32) {
	h := s.offset
	if l.to > l.from {
		line := &t.lines[l.from]
		h = h*31 + uint64(uint32(line.number))
		if at := t.functions.find(line.function); at >= 0 {
			name, _ := t.texts.get(t.functions.rows[at].name)
			h = h*31 + uint64(len(name))
		}
	}
	h = (h ^ uint64(s.module)<<32 ^ uint64(l.to-l.from)<<48) * 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

// at is the slot of a key, or else where it may go.
func (h *hints) at(key uint32) *hint {
	mask := uint32(len(h.table) - 1)
	for i := range uint32(maxProbes) {
		if p := &h.table[(key+i)&mask]; p.id == 0 || p.key == key {
			return p
		}
	}
	return &h.table[key&mask]
}

// near is what is in the slot where a key mostly is.
func (h *hints) near(key uint32) (p hint) {
	if i := int(key) & (len(h.table) - 1); i < len(h.table) {
		p = h.table[i]
	}
	return p
}

// find returns a site, 0 if there is no hint.
func (h *hints) find(key uint32) siteID {
	if len(h.table) == 0 {
		return 0
	}
	if p := h.at(key); p.key == key {
		return p.id
	}
	return 0
}

func (h *hints) set(key uint32, id siteID) {
	if 2*h.n >= len(h.table) {
		h.grow()
	}
	p := h.at(key)
	if p.id == 0 {
		h.n++
	}
	*p = hint{key, id}
}

func (h *hints) grow() {
	old := h.table
	h.table, h.n = make([]hint, max(64, 2*len(old))), 0
	for _, p := range old {
		if p.id != 0 {
			h.set(p.key, p.id)
		}
	}
}

// bytes is the memory of h.
func (h *hints) bytes() int64 { return 8 * int64(len(h.table)) }
