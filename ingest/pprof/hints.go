package pprof

// hints tell what something in the pool may be: which site a location, by numbers
// that are at hand before any text is looked up, and which stack some sites, before
// they are looked up one by one. Whether it is that is for the asker to find out, so
// hints may be wrong or missing. The zero hints are empty and ready to use.
type hints struct {
	table []hint // its length is a power of two
	n     int
}

type hint struct {
	key uint32
	id  siteID // 0: free
}

// maxProbes is how many places a hint may be in: whoever makes files up can't make
// looking for one take longer.
const maxProbes = 8

// hintOf is by what the site of a location is found.
func (t *tables) hintOf(l *location, s *site) (key uint32) {
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

// at is where a hint is or else may be put.
func (h *hints) at(key uint32) *hint {
	mask := uint32(len(h.table) - 1)
	for i := range uint32(maxProbes) {
		if p := &h.table[(key+i)&mask]; p.id == 0 || p.key == key {
			return p
		}
	}
	return &h.table[key&mask]
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

// set sets a hint.
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

// bytes is how much memory h takes.
func (h *hints) bytes() int64 { return 8 * int64(len(h.table)) }
