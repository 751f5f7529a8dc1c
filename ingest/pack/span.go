package pack

import (
	"math"
	"slices"
	"strconv"
	"time"

	"gprof/chunks"
	"gprof/chunks/sections"
	"gprof/rawformat"
)

// Span is a range of time, both ends included, in ns since the Unix epoch. The zero Span is all
// time.
type Span struct{ From, To int64 }

// lateness is how much earlier than its chunk an event may be: CPU samples come in windows of a
// second.
const lateness = 2 * int64(time.Second)

// clock maps the monotonic times of a process: m is at real + (m - monotonic), as in package
// decode.
type clock struct {
	monotonic uint64
	real      int64
	known     bool
}

func (c *clock) at(monotonic uint64) int64 { return c.real + int64(monotonic-c.monotonic) }

// clockOf is the clock in a meta file, else the earliest anchor's.
func clockOf(meta []byte, files []entry) clock {
	if c := metaClock(meta); c.known {
		return c
	}
	var c clock
	for i := range files {
		h, _, err := rawformat.ReadHeader(files[i].header[:])
		if a := h.Open; err == nil && h.Epoch != 0 && a.Monotonic != 0 && (!c.known || a.Monotonic < c.monotonic) {
			c = clock{a.Monotonic, a.Realtime, true}
		}
	}
	return c
}

func metaClock(meta []byte) clock {
	m, err1 := strconv.ParseUint(metaValue(meta, rawformat.MetaStartMono), 10, 64)
	t, err2 := strconv.ParseInt(metaValue(meta, rawformat.MetaStartReal), 10, 64)
	return clock{m, t, err1 == nil && err2 == nil}
}

// metaValue is the first value of a key in a meta file, "" if there is none.
func metaValue(meta []byte, key string) string {
	h, err := rawformat.ReadRecordHeader(meta)
	if err != nil {
		return ""
	}
	r := rawformat.NewCursor(meta[rawformat.RecordHeaderSize:], rawformat.RecordHeaderSize)
	for {
		_, fields, intact, ok := r.Record(h.Instance, h.Generation)
		if !ok {
			return ""
		}
		k, v := fields.Text("key"), fields.Text("value")
		if intact && fields.Err() == nil && string(k) == key {
			return string(v)
		}
	}
}

// time is the range of a chunk's events, unbounded where unknown.
func (e *entry) time(c *clock) (from, to int64) {
	from, to = math.MinInt64, math.MaxInt64
	h, sealed, err := rawformat.ReadHeader(e.header[:])
	if err != nil || !c.known {
		return from, to
	}
	if h.Open.Monotonic != 0 {
		from = c.at(h.Open.Monotonic) - lateness
	}
	if sealed && h.Close.Monotonic != 0 {
		to = c.at(h.Close.Monotonic)
	}
	return from, to
}

// touches reports whether a chunk may hold an event of the span.
func (s Span) touches(e *entry, c *clock) bool {
	from, to := e.time(c)
	return s == Span{} || from <= s.To && to >= s.From
}

// cutEnds drops pages that are over before the span or begin after it: what is left of a chunk are
// up to three entries, as if it had been as many chunks.
func (p *packer) cutEnds(j *job, c *clock) {
	span := p.o.Span
	if span == (Span{}) || !c.known || span.From <= c.real && span.To == math.MaxInt64 {
		return
	}
	since, until := uint64(0), uint64(math.MaxUint64)
	if span.From > c.real {
		since = c.monotonic + uint64(span.From-c.real)
	}
	if span.To < math.MaxInt64 {
		until = c.monotonic + uint64(max(0, span.To-c.real))
	}
	var err error
	if j.cut, err = chunks.NewCutter(j.FS, j.Dir, since, until); err != nil {
		return // then chunks are whole
	}
	free := j.held().free
	var files []entry
	for _, e := range j.index.files {
		from, to := e.time(c)
		if e.leftOut() || from+lateness >= span.From && to <= span.To || !span.touches(&e, c) {
			files = append(files, e)
			continue
		}
		parts := p.parts(j, e)
		for i := range parts[:len(parts)-1] {
			parts[i].number = free
			free++
		}
		files = append(files, parts...)
	}
	slices.SortStableFunc(files, byRangeStart)
	j.index.files = files
	if !j.cut.Rest() {
		j.rest = slices.DeleteFunc(j.rest, func(f part) bool { return f.kind == sections.Stacks })
	}
}

// parts are the parts that a chunk is cut into; the last one has its number.
func (p *packer) parts(j *job, e entry) []entry {
	raw, err := p.raw(j, &e)
	if err != nil {
		return []entry{e} // it is reported when it is packed
	}
	cut := j.cut.Cut(raw)
	if len(cut) == 1 && len(cut[0]) == len(raw) {
		return []entry{e}
	}
	parts := make([]entry, len(cut))
	for i, b := range cut {
		parts[i] = entry{number: e.number, size: uint32(len(b)), part: e.part, cut: &e, nth: i}
		copy(parts[i].header[:], b)
		p.total += int64(len(b))
	}
	p.total -= int64(len(raw))
	return parts
}

// raw reads what is to be packed of a chunk file, valid until the next call.
func (p *packer) raw(j *job, e *entry) ([]byte, error) {
	if e.cut == nil {
		p.buf = slices.Grow(p.buf[:0], int(e.size))
		return copyChunk(e, p.buf[:e.size])
	}
	raw, err := p.raw(j, e.cut)
	if err != nil {
		return nil, err
	}
	if parts := j.cut.Cut(raw); e.nth < len(parts) {
		return parts[e.nth], nil
	}
	return e.discardedHead(), nil // it was discarded since it was cut
}

// covers reports whether all, by range start, hold what a slice left of a chunk, and more, or what it left out.
func covers(all []entry, part *entry) bool {
	h, _, err := rawformat.ReadHeader(part.header[:])
	if err != nil || h.Epoch == 0 {
		return false
	}
	left := part.indexes()
	for i := range all {
		e := &all[i]
		if e.leftOut() || e.epoch() != h.Epoch {
			continue
		}
		its := e.indexes()
		switch {
		case its.from > left.from:
		case part.leftOut():
			left.from = max(left.from, its.to) // others may hold the rest
		case its.to >= left.to && (its.from < left.from || its.to > left.to):
			return true
		}
	}
	return part.leftOut() && left.from >= left.to
}
