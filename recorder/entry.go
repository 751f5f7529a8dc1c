package recorder

import "gprof/rawformat"

// marker is one on the long way: with text, a stack, a duration, or more than
// two fields.
type marker struct {
	d          *definition
	kind       rawformat.Kind
	track      uint32
	now, begin Time
	args       [4]arg
	stack      uint64   // the field: 0 none, 1 raw, else id + 1
	raw        []uint64 // pcs of a stack that has no id yet
}

// mark writes a marker, the long way.
//
//go:noinline
func (r *Recorder) mark(h handle, kind rawformat.Kind, now, begin Time, a, b arg, more *[2]arg) {
	if h.d.seq > r.defined.Load() {
		r.lose(rawformat.LostDictionary, 1, 0)
		return
	}
	m := marker{d: h.d, kind: kind, now: now, begin: begin, args: [4]arg{a, b}}
	if more != nil {
		m.args[2], m.args[3] = more[0], more[1]
	}
	if h.track != nil {
		m.track = r.track(h.track)
	}
	if h.d.stack {
		r.markStack(&m)
		return
	}
	r.write(&m)
}

// size is at least the number of bytes that write needs.
func (m *marker) size() uint32 {
	n := uint32(64 + 2*10*len(m.raw))
	for i, w := range m.d.wires {
		n += 10
		if w == rawformat.WireText {
			n += uint32(min(m.args[i].bits, maxString))
		}
	}
	return n
}

func (r *Recorder) write(m *marker) {
	s := r.acquire(shardHint(&m.now))
	if s != nil && r.turnWithStack(s, m.size(), m.track, m.now, m.raw) {
		s.marker(m)
		releaseLock(&s.lock)
	}
}

// maxRaw is how many pcs a stack block may have: a page must have room for a
// sync block, the stack block, and the beginning of the block that follows.
const maxRaw = 300

// turnWithStack is turn, and writes a stack block for the block that follows.
// size is that of both; raw has at most maxRaw pcs.
func (r *Recorder) turnWithStack(s *shard, size, track uint32, now Time, raw []uint64) bool {
	for r.turn(s, size, track, now) {
		if len(raw) == 0 {
			return true
		}
		s.stack(raw)
		if s.page == s.offset()>>pageShift {
			return true
		}
		// The next block would begin in the next page, where the stack does
		// not count. Once more, from the beginning of that page.
	}
	return false
}

func (s *shard) stack(pcs []uint64) { s.finish(rawformat.AppendPCs(s.begin(rawformat.KindStack), pcs)) }

func (s *shard) marker(m *marker) {
	b := s.begin(m.kind)
	b = rawformat.AppendUint(b, uint64(m.d.id))
	b = rawformat.AppendUint(b, m.stack)
	b = s.time(b, m.now)
	if m.kind == markInterval {
		b = rawformat.AppendUint(b, uint64(max(0, m.now-m.begin)))
	}
	b = rawformat.AppendUint(b, rawformat.Shape(m.d.wires...))
	for i, w := range m.d.wires {
		b = appendArg(b, w, m.args[i])
	}
	s.finish(b)
}

func appendArg(b []byte, w rawformat.WireType, a arg) []byte {
	switch w {
	case rawformat.WireSint:
		return rawformat.AppendSint(b, int64(a.bits))
	case rawformat.WireUint:
		return rawformat.AppendUint(b, a.bits)
	case rawformat.WireFloat:
		return rawformat.AppendFixed(b, a.bits)
	}
	return appendCut(b, a.string())
}

// entry writes a block of the recorder's own: a time and fields of type U, or S
// as their zig-zag form.
func (r *Recorder) entry(k rawformat.Kind, at Time, fields ...uint64) {
	r.put(r.acquirePatiently(), k, 0, at, fields...)
}

// put is entry in a shard that was just locked; nil: none could be.
func (r *Recorder) put(s *shard, k rawformat.Kind, track uint32, at Time, fields ...uint64) {
	if s == nil || !r.turn(s, uint32(16+10*len(fields)), track, at) {
		return
	}
	b := s.time(s.begin(k), at)
	for _, v := range fields {
		b = rawformat.AppendUint(b, v)
	}
	s.finish(b)
	releaseLock(&s.lock)
}

// log writes a line for whoever reads the recording.
func (r *Recorder) log(level rawformat.LogLevel, text string) {
	now := Now()
	s := r.acquirePatiently()
	if s == nil || !r.turn(s, maxString+32, 0, now) {
		return
	}
	b := s.time(s.begin(rawformat.KindLog), now)
	s.finish(appendCut(rawformat.AppendUint(b, uint64(level)), text))
	releaseLock(&s.lock)
}

// lose counts what was dropped. The housekeeper writes it into the recording
// when there is room.
func (r *Recorder) lose(why rawformat.LostReason, count, bytes uint64) {
	r.lost[why].count.Add(count)
	r.lost[why].bytes.Add(bytes)
}
