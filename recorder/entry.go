package recorder

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// marker is one on the long way: with text, a stack, a duration, or more than
// two fields.
type marker struct {
	d          *registry.Definition
	kind       rawformat.Kind
	of         who
	now, begin rt.Tick
	args       [4]arg
	values     []Arg // instead of args, where many
	many       bool
	stack      uint64 // the field: 0 none, 1 raw, else id + 1
	generation uint32 // of the dictionary that has the id
}

// record records a marker that is no interval.
//
//go:noinline
func (h handle) record(kind rawformat.Kind, a, b arg, more *[2]arg) {
	if r := current.Load(); r != nil && !h.track.IsUnwanted() {
		r.mark(h, kind, r.clock.Now(), 0, a, b, more)
	}
}

// end records the interval of a span that was begun in r, or r's heir does: see
// early.go.
//
//go:noinline
func (r *recording) end(s *Span) {
	now := current.Load()
	if now != r && (now == nil || now.instance != r.instance) {
		return
	}
	if d := s.h.d; d != nil && d.Plain && d.Seq <= now.defined.Load() && now.exposed == nil {
		now.endPlain(s)
		return
	}
	now.mark(s.h, markInterval, now.clock.Now(), s.begin, s.a, s.b, &s.more)
}

// since records an interval from begin until now.
//
//go:noinline
func (h handle) since(begin rt.Time, a, b arg, more *[2]arg) {
	if r := current.Load(); r != nil && !h.track.IsUnwanted() {
		r.mark(h, markInterval, r.clock.Now(), r.clock.At(begin), a, b, more)
	}
}

// mark writes a marker, the long way. begin is that of an interval.
//
//go:noinline
func (r *recording) mark(h handle, kind rawformat.Kind, now, begin rt.Tick, a, b arg, more *[2]arg) {
	if !r.has(h) {
		return
	}
	var m marker
	m.d, m.kind, m.now, m.begin = h.d, kind, now, begin
	m.args[0].set(&a)
	m.args[1].set(&b)
	if more != nil {
		m.args[2].set(&more[0])
		m.args[3].set(&more[1])
	}
	m.of = r.who(h)
	if h.d.Stack && r.features.Has(FeatureStacks) {
		r.markStack(&m)
		return
	}
	r.write(&m, nil)
}

// markN is mark of an event with any number of fields.
//
//go:noinline
func (r *recording) markN(h handle, kind rawformat.Kind, now, begin rt.Tick, values []Arg) {
	if !r.has(h) {
		return
	}
	var m marker
	m.d, m.kind, m.now, m.begin, m.many = h.d, kind, now, begin, true
	m.values = values[:min(len(values), len(h.d.Wires))]
	m.of = r.who(h)
	if h.d.Stack && r.features.Has(FeatureStacks) {
		r.markStack(&m)
		return
	}
	r.write(&m, nil)
}

// who is the calling goroutine, on the track that the event is aimed at.
func (r *recording) who(h handle) (of who) {
	if h.track != nil {
		of.track = r.track(h.track)
	}
	of.goroutine = rt.GoroutineAt(r.goroutines)
	return of
}

// has reports whether the event is defined in this recording. One for which there
// was no room is counted.
func (r *recording) has(h handle) bool {
	if h.d == nil {
		return false
	}
	if h.d.Seq > r.defined.Load() {
		r.lose(rawformat.LostDictionary, 1, 0)
		return false
	}
	return true
}

// size is at least the number of bytes that the marker and its stack of so many
// pcs take.
func (m *marker) size(raw int) uint32 {
	n := uint32(markerRoom + 2*10*raw)
	if m.many {
		for i := range m.values {
			n += m.values[i].size()
		}
		return n
	}
	for i, w := range m.d.Wires {
		if w == rawformat.WireText {
			n += uint32(min(m.args[i].bits, maxString))
		}
	}
	return n
}

// markerRoom is more than a marker takes without its texts: length, kind, event,
// stack, time, duration, shape, four numbers.
const markerRoom = 96

// write writes the marker, and the pcs of a stack that has no id yet. False: its
// stack has no id in the dictionary of the shard's chunk.
func (r *recording) write(m *marker, raw []uint64) (done bool) {
	if r.exposed == nil {
		return r.writeMarker(m, raw)
	}
	done = true // unless it returns
	r.contain(func() { done = r.writeMarker(m, raw) })
	return done
}

func (r *recording) writeMarker(m *marker, raw []uint64) bool {
	s := r.enter()
	if s != nil && m.stack > 1 && m.generation != uint32(s.generation) {
		leave(s)
		return false
	}
	if s != nil && r.turnWithStack(s, m.size(len(raw)), m.of, m.now, raw) {
		s.marker(m)
		leave(s)
	}
	return true
}

// maxRaw is how many pcs a stack block may have: a page must have room for a
// sync block, the stack block, and the beginning of the block that follows.
const maxRaw = 300

// turnWithStack is turn, and writes a stack block for the block that follows.
// size is that of both; raw has at most maxRaw pcs.
func (r *recording) turnWithStack(s *shard, size uint32, of who, now rt.Tick, raw []uint64) bool {
	for r.turn(s, size, of, now) {
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

// marker writes the block. Its length takes two bytes.
func (s *shard) marker(m *marker) {
	d := m.d
	p := unsafe.Add(s.base, s.offset())
	put64(p, 1, d.Head|uint64(m.kind)<<8)
	n := putUint(p, uintptr(d.HeadLen), m.stack)
	n = putUint(p, n, rawformat.Zigzag(int64(m.now-s.last)))
	s.last = m.now
	if m.kind == markInterval {
		n = putUint(p, n, uint64(max(0, m.now-m.begin)))
	}
	if m.many {
		n = putValues(p, n, m.values)
	} else {
		n = putUint(p, n, d.Shape)
		for i, w := range d.Wires {
			n = putArg(p, n, w, m.args[i&3])
		}
	}
	length := uint64(n - 2)
	put16(p, 0, length&0x7f|0x80|length>>7<<8)
	s.word += uint64(n) | 1<<32
	rt.Release(s.commit, s.word)
}

// putValues writes the shape of values, and them.
func putValues(p unsafe.Pointer, n uintptr, values []Arg) uintptr {
	shape := uint64(1)
	for i := len(values) - 1; i >= 0; i-- {
		shape = shape<<2 | uint64(values[i].wire)
	}
	n = putUint(p, n, shape)
	for i := range values {
		n = putArg(p, n, values[i].wire, values[i].arg)
	}
	return n
}

func putArg(p unsafe.Pointer, n uintptr, wire rawformat.WireType, a arg) uintptr {
	if wire == rawformat.WireText {
		return putText(p, n, a)
	}
	return putNumber(p, n, wire, a.bits)
}

// size is at least what the value takes.
func (v *Arg) size() uint32 {
	if v.wire == rawformat.WireText {
		return uint32(min(v.arg.bits, maxString)) + 2
	}
	return 10
}

// entry writes a block of the recorder's own: a time and fields of type U, or S
// as their zig-zag form.
func (r *recording) entry(k rawformat.Kind, at rt.Tick, fields ...uint64) {
	r.put(r.acquirePatiently(), k, 0, at, fields...)
}

// put is entry in a shard that was just locked; nil: none could be.
func (r *recording) put(s *shard, k rawformat.Kind, track uint32, at rt.Tick, fields ...uint64) {
	if s == nil || !r.turn(s, uint32(16+10*len(fields)), who{track: track}, at) {
		return
	}
	b := s.time(s.begin(k), at)
	for _, v := range fields {
		b = rawformat.AppendUint(b, v)
	}
	s.finish(b)
	leave(s)
}

// log writes a line for whoever reads the recording.
func (r *recording) log(level rawformat.LogLevel, text string) {
	now := r.clock.Now()
	s := r.acquirePatiently()
	if s == nil || !r.turn(s, maxString+32, who{}, now) {
		return
	}
	b := s.time(s.begin(rawformat.KindLog), now)
	s.finish(appendCut(rawformat.AppendUint(b, uint64(level)), text))
	leave(s)
}
