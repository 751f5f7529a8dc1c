package pack

import (
	"slices"

	"gprof/chunks"
	"gprof/rawformat"
)

// cutFronts leaves out the pages of chunks that are over before the span: what is left
// of each are two entries, as if it had been two chunks.
func (p *packer) cutFronts(j *job, c *clock) {
	if p.o.Span.From == 0 || !c.known || p.o.Span.From <= c.real {
		return
	}
	var err error
	if j.cut, err = chunks.NewCutter(j.FS, j.Dir, c.monotonic+uint64(p.o.Span.From-c.real)); err != nil {
		return // then chunks are whole
	}
	free := j.held().free
	var files []entry
	for _, e := range j.index.files {
		from, _ := e.time(c)
		if e.leftOut() || from+lateness >= p.o.Span.From || !p.o.Span.touches(&e, c) {
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
}

// parts are what a chunk is cut into; the last one has its number.
func (p *packer) parts(j *job, e entry) []entry {
	raw, err := p.raw(j, &e)
	if err != nil {
		return []entry{e} // it is reported when it is packed
	}
	cut := j.cut.Cut(raw)
	if len(cut) == 1 {
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

// raw reads what is to be packed of a chunk file. It is valid until the next call.
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
	return e.gone(), nil // it was discarded since it was cut
}

// covers reports whether one of all holds what a slice left of a chunk, and more.
func covers(all []entry, part *entry) bool {
	h, _, err := rawformat.ReadHeader(part.header[:])
	return err == nil && h.Epoch != 0 && slices.ContainsFunc(all, func(e entry) bool {
		o, _, err := rawformat.ReadHeader(e.header[:])
		if err != nil || e.leftOut() || o.Epoch != h.Epoch || o.RangeStart > h.RangeStart {
			return false
		}
		if part.leftOut() {
			return o.RangeStart+uint64(o.Capacity) >= h.RangeStart+uint64(h.Capacity)
		}
		return o.RangeStart < h.RangeStart && o.RangeStart+uint64(o.Commit.Offset()) >= h.RangeStart+uint64(h.Commit.Offset())
	})
}
