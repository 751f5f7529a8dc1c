package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"

	"gprof/chunks"
	"gprof/chunks/sections"
	"gprof/rawformat"
)

// Options say what to pack. The zero value packs everything.
type Options struct {
	// Span drops chunks without events in it. Their contents are not counted as lost: the process's
	// range start stays, and the archive says which ranges are left out.
	Span Span

	// Report, if not nil, is called for files that could not be packed.
	Report func(error)

	// Progress, if not nil, is called with the bytes packed, and of how many.
	Progress func(done, total int64)
}

// Summary describes an archive.
type Summary struct {
	Processes int
	Chunks    int   // packed
	LeftOut   int   // chunks outside the span
	Reused    int   // live chunks that were discarded before they could be copied
	Raw       int64 // bytes of all packed files
	RawDicts  int64 // of these, dictionaries
	Size      int64 // bytes of the archive
	Dicts     int64 // of these, dictionaries
}

// ErrNothing says that there is no process to pack.
var ErrNothing = errors.New("no process to pack")

// Write packs processes into one archive, sequentially. The same processes in any order give the
// same bytes if they are at rest. Unreadable files are reported to Options.Report and left out; the
// error is w's, or [ErrNothing].
//
// A process may be given several times, the best copy first: it gets the chunks and dictionaries
// that the best copy lacks. So dumps of one process from different times become one recording.
//
//  1. The headers of all chunks are read: the moment at which a live process is shown.
//  2. Indexes, meta, exit and dictionaries are written. A definition precedes its use, so
//     everything in chunks committed by then is defined.
//  3. Chunks are written, those first that a ring discards first.
func Write(w io.Writer, processes []Process, o Options) (Summary, error) {
	if len(processes) == 0 {
		return Summary{}, ErrNothing
	}
	o.fill()
	p := &packer{w: w, o: o, encoder: newEncoder()}
	sorted := slices.Clone(processes)
	slices.SortStableFunc(sorted, func(a, b Process) int { return cmp.Compare(a.Instance, b.Instance) })
	for i := range sorted {
		p.survey(&sorted[i])
	}
	for i := range p.jobs {
		p.front(&p.jobs[i])
	}
	for i := range p.jobs {
		p.chunks(&p.jobs[i])
	}
	p.end()
	return p.sum, p.err
}

// end writes the directory and the last section.
func (p *packer) end() {
	at := uint64(p.sum.Size)
	p.section(&sections.Header{Kind: sections.Directory}, p.headers)
	p.section(&sections.Header{Kind: sections.End, Instance: at, Number: p.sections}, nil)
}

func (o *Options) fill() {
	if o.Report == nil {
		o.Report = func(error) {}
	}
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
}

// packer writes one archive. After a write error it does nothing.
type packer struct {
	w        io.Writer
	o        Options
	encoder  *encoder
	jobs     []job
	sections uint32
	files    int // in all indexes
	buf      []byte
	head     []byte
	headers  []byte // of all sections so far
	total    int64  // bytes of files
	sum      Summary
	err      error
}

// job is a process of an archive.
type job struct {
	*Process
	index index
	rest  []part // meta, exit, dictionaries
	cut   *chunks.Cutter
}

// part is a file of one copy of a process.
type part struct {
	file
	from *Process
}

// survey reads the headers of a process's chunks. For a further copy it adds what is new.
func (p *packer) survey(q *Process) {
	files, err := q.list(p.o.Report)
	if err != nil {
		p.o.Report(fmt.Errorf("%s: %w", instanceName(q.Instance), err))
		return
	}
	again := len(p.jobs) > 0 && p.jobs[len(p.jobs)-1].Instance == q.Instance
	if !again {
		p.jobs = append(p.jobs, job{Process: q, index: index{live: q.Live || q.Snapshot}})
	}
	j := &p.jobs[len(p.jobs)-1]
	held := j.held()
	for _, f := range files {
		if f.kind != sections.Chunk {
			j.add(part{f, q})
			continue
		}
		e, err := readEntry(q, f)
		switch {
		case err != nil:
			p.report(q, f, err)
		case p.files == sections.MaxFiles:
			p.report(q, f, fmt.Errorf("%w: more than %d chunks in an archive", rawformat.ErrTooBig, sections.MaxFiles))
		case (q.Live || p.o.Span != Span{}) && e.spare() || again && !held.lacks(&e):
		default:
			p.files++
			p.total += int64(e.size)
			j.index.files = append(j.index.files, e)
		}
	}
	j.settle()
}

// add adds a new file.
func (j *job) add(f part) {
	if !slices.ContainsFunc(j.rest, func(g part) bool { return g.file == f.file }) {
		j.rest = append(j.rest, f)
	}
}

// copyState is what a job has of a process when another copy comes.
type copyState struct {
	parts map[uint64][]indexes // of its chunks, by epoch and by range start
	free  uint32               // an unused file number
}

// indexes are those of the committed part of a chunk.
type indexes struct{ from, to uint64 }

func (j *job) held() *copyState {
	h := &copyState{parts: map[uint64][]indexes{}}
	for i := range j.index.files {
		e := &j.index.files[i]
		h.free = max(h.free, e.number+1)
		if !e.leftOut() {
			h.hold(e)
		}
	}
	return h
}

// hold notes that a chunk is there.
func (h *copyState) hold(e *entry) {
	parts := append(h.parts[e.epoch()], e.indexes())
	slices.SortFunc(parts, func(a, b indexes) int { return cmp.Compare(a.from, b.from) })
	h.parts[e.epoch()] = parts
}

// lacks reports whether a chunk of another copy is missing, or a part of it, and numbers it: its
// file may have been reused since.
func (h *copyState) lacks(e *entry) bool {
	parts, known := h.parts[e.epoch()]
	if e.epoch() == 0 || e.leftOut() {
		return false
	}
	left := e.indexes()
	for _, p := range parts {
		if p.from <= left.from {
			left.from = max(left.from, p.to)
		}
	}
	if known && left.from >= left.to {
		return false
	}
	e.number = h.free
	h.free++
	h.hold(e)
	return true
}

// indexes are what is committed of a chunk; none if its header is damaged.
func (e *entry) indexes() (of indexes) {
	if h, _, err := rawformat.ReadHeader(e.header[:]); err == nil {
		of = indexes{h.RangeStart, h.RangeStart + uint64(min(h.Commit.Offset(), h.Capacity))}
	}
	return of
}

// settle sorts the chunks and replaces what a slice left of one, and left out of it, by what others hold.
func (j *job) settle() {
	slices.SortStableFunc(j.index.files, byRangeStart)
	uses := map[uint64][]entry{} // by epoch
	for _, e := range j.index.files {
		uses[e.epoch()] = append(uses[e.epoch()], e)
	}
	j.index.files = slices.DeleteFunc(j.index.files, func(e entry) bool { return covers(uses[e.epoch()], &e) })
}

func byRangeStart(a, b entry) int { return cmp.Compare(a.rangeStart(), b.rangeStart()) }

// spare reports whether a chunk was never used.
func (e *entry) spare() bool {
	h, _, err := rawformat.ReadHeader(e.header[:])
	return err == nil && h.Epoch == 0 && h.RangeStart == 0 || err != nil && e.header == [rawformat.HeaderSize]byte{}
}

// rangeStart sorts chunks, unused ones last.
func (e *entry) rangeStart() uint64 {
	h, _, err := rawformat.ReadHeader(e.header[:])
	if err != nil || h.Epoch == 0 {
		return math.MaxUint64
	}
	return h.RangeStart
}

// report says why a file is not in the archive.
func (p *packer) report(q *Process, f file, err error) {
	p.o.Report(fmt.Errorf("%s: not packed: %w", q.where(sections.FileName(f.kind, f.number)), err))
}

// front writes all of a process except its chunks.
func (p *packer) front(j *job) {
	var meta []byte
	slices.SortStableFunc(j.rest, func(a, b part) int { return compareFiles(a.file, b.file) })
	if len(j.rest) > 0 && j.rest[0].kind == sections.Meta {
		meta = p.read(j.rest[0])
	}
	c := clockOf(meta, j.index.files)
	p.cutEnds(j, &c)
	for i := range j.index.files {
		e := &j.index.files[i]
		if !e.leftOut() && !p.o.Span.touches(e, &c) {
			p.total -= int64(e.size)
			e.leaveOut()
		}
		if e.leftOut() {
			p.sum.LeftOut++
		}
	}
	p.section(&sections.Header{Kind: sections.Process, Instance: j.Instance}, appendIndex(nil, &j.index))
	p.sum.Processes++
	for _, f := range j.rest {
		p.part(f)
	}
}

// part writes a file that is no chunk.
func (p *packer) part(f part) {
	before := p.sum.Size
	n, ok := p.passOn(f, f.number)
	if !ok {
		data := p.read(f)
		if data == nil {
			return
		}
		p.section(&sections.Header{Kind: f.kind, Instance: f.from.Instance, Number: f.number}, data)
		n = int64(len(data))
	}
	p.packed(n)
	if f.kind == sections.Dict {
		p.sum.RawDicts += n
		p.sum.Dicts += p.sum.Size - before
	}
}

// passOn copies a file from another archive in its stored form. It is not ok if there is none, or
// it is damaged or not compressed. n is its raw size.
func (p *packer) passOn(f part, number uint32) (n int64, ok bool) {
	a, ok := f.from.FS.(*Archive)
	if !ok || p.err != nil {
		return 0, false
	}
	s := a.section(path.Join(f.from.Dir, sections.FileName(f.kind, f.number)))
	if s == nil || s.Encoding == sections.Raw {
		return 0, false
	}
	stored, err := a.stored(s)
	if err != nil || sections.Checksum(stored) != s.StoredCRC {
		return 0, false
	}
	h := s.Header
	h.Number = number
	p.put(&h, stored)
	return int64(h.RawSize), true
}

// read reads a dictionary, meta or exit file, or reports why not.
func (p *packer) read(f part) []byte {
	data, err := f.from.read(f.file)
	if err != nil {
		p.report(f.from, f.file, err)
	}
	return data
}

// read reads a file that is no chunk. The last record of a live dictionary may be half written: it
// is not in use yet.
func (p *Process) read(f file) ([]byte, error) {
	in, err := p.open(f, sections.MaxRaw[f.kind])
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if in.size > int64(sections.MaxRaw[f.kind]) {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", rawformat.ErrTooBig, in.size, sections.MaxRaw[f.kind])
	}
	data, err := in.read(make([]byte, in.size), 0)
	switch {
	case err != nil:
		return nil, err
	case p.Live && f.kind == sections.Dict:
		data = wholeRecords(data)
	}
	return data, nil
}

// wholeRecords cuts off an incomplete last record.
func wholeRecords(data []byte) []byte {
	if len(data) < rawformat.RecordHeaderSize {
		return data
	}
	r := rawformat.NewCursor(data[rawformat.RecordHeaderSize:], rawformat.RecordHeaderSize)
	end := r.Offset()
	for {
		if _, _, _, ok := r.Record(0, 0); !ok {
			break
		}
		end = r.Offset()
	}
	if errors.Is(r.Err(), rawformat.ErrTruncated) {
		return data[:end]
	}
	return data
}

// chunks writes a process's chunks.
func (p *packer) chunks(j *job) {
	for i := range j.index.files {
		if e := &j.index.files[i]; !e.leftOut() && p.err == nil {
			p.chunk(j, e)
		}
	}
}

func (p *packer) chunk(j *job, e *entry) {
	if e.cut == nil {
		if n, ok := p.passOn(e.part, e.number); ok {
			p.sum.Chunks++
			p.packed(n)
			return
		}
	}
	raw, err := p.raw(j, e)
	if err != nil {
		p.report(e.from, e.file, err)
		return
	}
	if len(raw) < int(e.size) && e.from.Live {
		p.sum.Reused++
	} else {
		p.sum.Chunks++
	}
	p.section(&sections.Header{Kind: sections.Chunk, Instance: j.Instance, Number: e.number}, raw)
	p.packed(int64(len(raw)))
}

func (p *packer) packed(n int64) {
	p.sum.Raw += n
	p.o.Progress(p.sum.Raw, p.total)
}

// section encodes and writes a section with header h.
func (p *packer) section(h *sections.Header, raw []byte) {
	if p.err != nil {
		return
	}
	var stored []byte
	h.Encoding, stored = p.encoder.encode(h.Kind, raw)
	h.RawSize, h.Size = uint32(len(raw)), uint32(len(stored))
	h.RawCRC, h.StoredCRC = sections.Checksum(raw), sections.Checksum(stored)
	p.put(h, stored)
}

// put writes a section.
func (p *packer) put(h *sections.Header, stored []byte) {
	p.head = sections.Append(p.head[:0], h)
	p.headers = append(p.headers, p.head[len(sections.Magic):]...)
	for _, b := range [][]byte{p.head, stored} {
		n, err := p.w.Write(b)
		p.sum.Size += int64(n)
		if err != nil {
			p.err = err
			return
		}
	}
	p.sections++
}
