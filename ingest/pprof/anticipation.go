package pprof

// ahead is how many locations are looked up at a time.
const ahead = 64

// guess is a location, and the site that it may be.
type guess struct {
	place site   // without its functions
	hint  uint32 // 0: it is not looked for
	id    siteID // 0: there is none
	found site
	name  string // of its innermost function
	end   byte   // of that: read only so that it is at hand when it is compared
}

// anticipate looks up what the pool has, most of it mostly, before samples ask for
// it one by one: many at a time take a fraction of the time. A site is told from
// others by comparing what the file says of it, so that no text has to be looked
// up. What is not found, or is odd, is left to whoever asks.
func (t *translation) anticipate() {
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

// guess guesses which sites some locations are. Each step asks for one thing of all
// of them, so that it waits for many at once.
func (t *translation) guess(rows []location, guesses []guess) {
	for i := range rows {
		l, g := &rows[i], &guesses[i]
		g.hint, g.id = 0, 0
		if l.mapping == 0 || t.from.mappings.find(l.mapping) >= 0 {
			g.place = t.place(l)
			g.hint = t.from.hintOf(l, &g.place)
		}
	}
	for i := range guesses {
		guesses[i].id = t.to.hints.find(guesses[i].hint)
	}
	for i := range guesses {
		if g := &guesses[i]; g.id != 0 {
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

// is says whether a location is the site that was guessed.
func (t *translation) is(l *location, g *guess) bool {
	s, lines := &g.found, t.from.lines[l.from:l.to]
	if s.offset != g.place.offset || s.module != g.place.module || s.outside != g.place.outside {
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

// isCall says whether a line says c. A function without a name has another one for
// it: it is left to who asks.
func (t *translation) isCall(l *line, c *call) bool {
	at := t.from.functions.find(l.function)
	if at < 0 || l.number != c.line {
		return false
	}
	f := &t.from.functions.rows[at]
	return f.start == c.start && c.name != 0 && t.isText(f.name, c.name) && t.isText(f.file, c.file)
}

// isText says whether a text is that of an id.
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
