package pprof

// ahead is how many things are looked up at a time.
const ahead = 64

// anticipate looks up what the pool has, most of it mostly, before samples ask for
// it one by one: many at a time take a fraction of the time. What is not found, or
// is odd, is left to whoever asks.
func (t *translation) anticipate() {
	t.anticipateTexts()
	for i := range t.functions {
		t.anticipateFunction(&t.from.functions.rows[i], &t.functions[i])
	}
	t.anticipateSites()
}

func (t *translation) anticipateTexts() {
	var texts [ahead][]byte
	for from := 0; from < len(t.texts); from += ahead {
		ids := t.texts[from:min(from+ahead, len(t.texts))]
		for i := range ids {
			texts[i], _ = t.from.texts.get(uint64(from + i))
		}
		t.to.texts.LookupAll(texts[:len(ids)], ids)
		for i, id := range ids {
			if id == 0 && len(texts[i]) > 0 {
				ids[i] = -1
			}
		}
	}
}

// known is the id of a text, below 0 if that has to be asked for.
func (t *translation) known(n uint64) textID {
	if n >= uint64(len(t.texts)) {
		return -1
	}
	return t.texts[n]
}

func (t *translation) anticipateFunction(row *function, f *call) {
	if name, file := t.known(row.name), t.known(row.file); name > 0 && file >= 0 {
		*f = call{name: name, file: file, start: row.start}
	}
}

func (t *translation) anticipateSites() {
	var places [ahead]int
	var keys [ahead]site
	var ids [ahead]siteID
	n := 0
	for i := range t.sites {
		if s, ok := t.likely(&t.from.locations.rows[i]); ok {
			places[n], keys[n] = i, s
			n++
		}
		if n == ahead || i == len(t.sites)-1 {
			t.to.sites.LookupAll(keys[:n], ids[:n])
			for k, id := range ids[:n] {
				if id != 0 {
					t.sites[places[k]] = id
				}
			}
			n = 0
		}
	}
}

// likely is the site of a location, if that can be told without anything being
// interned or found missing.
func (t *translation) likely(l *location) (s site, ok bool) {
	if l.to-l.from != 1 || l.mapping != 0 && t.from.mappings.find(l.mapping) < 0 {
		return s, false
	}
	at := t.from.functions.find(t.from.lines[l.from].function)
	if at < 0 || t.functions[at].start < 0 {
		return s, false
	}
	s = t.place(l)
	s.inner = t.functions[at]
	s.inner.line = t.from.lines[l.from].number
	return s, true
}
