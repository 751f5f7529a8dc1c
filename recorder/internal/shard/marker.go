package shard

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// marker is a marker that is recorded by the long way: it has a text, a stack, a duration,
// or more than two fields.
type marker struct {
	d          *registry.Definition
	kind       rawformat.Kind
	of         context
	now, begin rt.Tick
	at         place // of a placed marker
	args       [4]Arg
	values     []Typed // instead of args, if many
	many       bool
	stack      uint64 // the stack field: 0 none, 1 raw, else id + 1
	generation uint32 // of the dictionary that defines the id
}

// Record records a marker that Emit can't and that is no interval.
//
//go:noinline
func (h Handle) Record(kind rawformat.Kind, a, b Arg, more *[2]Arg) {
	if r := Current.Load(); r != nil && !h.Track.IsUnwanted() {
		r.mark(h, kind, r.clock.Now(), 0, a, b, more)
	}
}

// Since records an interval from begin until now.
//
//go:noinline
func (h Handle) Since(begin rt.Time, a, b Arg, more *[2]Arg) {
	if r := Current.Load(); r != nil && !h.Track.IsUnwanted() {
		now, from := r.clock.Now(), r.clock.At(begin)
		r.mark(h, rawformat.KindInterval, now, from, a, b, more)
		if h.overran(now - from) {
			r.noteArgs(h.Event, now-from, a, b, more)
		}
	}
}

// mark writes a marker by the long way. begin is the beginning of an interval, else 0.
//
//go:noinline
func (r *Recording) mark(h Handle, kind rawformat.Kind, now, begin rt.Tick, a, b Arg, more *[2]Arg) {
	if !r.has(h) {
		return
	}
	var m marker
	m.d, m.kind, m.now, m.begin = h.Event, kind, now, begin
	m.args[0].set(&a)
	m.args[1].set(&b)
	if more != nil {
		m.args[2].set(&more[0])
		m.args[3].set(&more[1])
	}
	m.of = r.contextOf(h)
	if h.Event.Stack && r.wantsStacks {
		r.markStack(&m)
		return
	}
	r.write(&m, nil)
}

// markN is mark for an event with any number of fields.
//
//go:noinline
func (r *Recording) markN(h Handle, kind rawformat.Kind, now, begin rt.Tick, values []Typed) {
	if !r.has(h) {
		return
	}
	var m marker
	m.d, m.kind, m.now, m.begin, m.many = h.Event, kind, now, begin, true
	m.values = values[:min(len(values), len(h.Event.Wires))]
	m.of = r.contextOf(h)
	if h.Event.Stack && r.wantsStacks {
		r.markStack(&m)
		return
	}
	r.write(&m, nil)
}

// contextOf is the calling goroutine, on the track that the event is aimed at.
func (r *Recording) contextOf(h Handle) (of context) {
	if h.Track != nil {
		of.track = r.trackID(h.Track)
	}
	of.goroutine = rt.GoroutineAt(r.goroutines)
	return of
}

// has reports whether the event is defined in this recording. If the dictionary had no room
// for it, the loss is counted.
func (r *Recording) has(h Handle) bool {
	if h.Event == nil {
		return false
	}
	if h.Event.Seq > r.defined.Load() {
		r.Lose(rawformat.LostDictionary, 1, 0)
		return false
	}
	return true
}

// size is an upper bound for the bytes of the marker and its stack of raw pcs.
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
			n += uint32(min(m.args[i].bits, maxText))
		}
	}
	return n
}

// markerRoom is more than a marker takes without its texts: length, kind, event, stack,
// time, phase, shift, duration, shape, four numbers.
const markerRoom = 112

// write writes the marker, and the pcs of a stack that has no id yet. False: the id of its
// stack is not of the dictionary that the shard's chunk names.
func (r *Recording) write(m *marker, raw []uint64) (done bool) {
	if r.faultErr == nil {
		return r.writeMarker(m, raw)
	}
	done = true // if writeMarker panics
	r.Contain(func() { done = r.writeMarker(m, raw) })
	return done
}

func (r *Recording) writeMarker(m *marker, raw []uint64) bool {
	s := r.enter()
	if s != nil && m.stack > 1 && m.generation != uint32(s.generation) {
		leave(s)
		return false
	}
	if s == nil {
		return true
	}
	size := m.size(len(raw))
	if len(raw) > 0 || !s.isReady(size, m.of) {
		if s = r.readyForStack(s, size, m.of, m.now, raw); s == nil {
			return true
		}
	}
	s.marker(m)
	leave(s)
	return true
}

// MaxPCs is how many pcs a stack block may have: a page must have room for a sync block,
// the stack block, and the beginning of the next block.
const MaxPCs = 300

// readyForStack is ready, and writes a stack block for the block that follows. size is that of
// both; raw has at most MaxPCs pcs.
func (r *Recording) readyForStack(s *shard, size uint32, of context, now rt.Tick, raw []uint64) *shard {
	for s = r.ready(s, size, of, now); s != nil && len(raw) > 0; s = r.ready(s, size, of, now) {
		s.stack(raw)
		if s.samePage() {
			break
		}
		// The next block would begin in the next page, where the stack does not
		// count. Write the stack again, at the beginning of that page.
	}
	return s
}

func (s *shard) stack(pcs []uint64) { s.finish(rawformat.AppendPCs(s.begin(rawformat.KindStack), pcs)) }

// marker writes the block of a marker. Its length takes two bytes.
func (s *shard) marker(m *marker) {
	d := m.d
	p := unsafe.Add(s.base, s.offset())
	put64(p, 1, d.Head|uint64(m.kind)<<8)
	n := putUint(p, uintptr(d.HeadLen), m.stack)
	n = putUint(p, n, rawformat.Zigzag(int64(m.now-s.last)))
	s.last = m.now
	switch m.kind {
	case rawformat.KindInterval:
		n = putUint(p, n, uint64(max(0, m.now-m.begin)))
	case rawformat.KindPlaced:
		n = putUint(p, n, uint64(m.at.phase))
		n = putUint(p, n, rawformat.Zigzag(int64(m.at.begin-m.now)))
		n = putUint(p, n, uint64(max(0, m.at.end-m.at.begin)))
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

// putValues writes the shape of values, and the values.
func putValues(p unsafe.Pointer, n uintptr, values []Typed) uintptr {
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

func putArg(p unsafe.Pointer, n uintptr, wire rawformat.WireType, a Arg) uintptr {
	if wire == rawformat.WireText {
		return putText(p, n, a)
	}
	return putNumber(p, n, wire, a.bits)
}

// Handle is what every event is made of: its definition, and the track that it is aimed at.
// The zero Handle records nothing.
type Handle struct {
	Event *registry.Definition
	Track *registry.Track
}
