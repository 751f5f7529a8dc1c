package decode

import (
	"fmt"
	"math"

	"gprof/chunks"
	"gprof/dedupe"
	"gprof/rawformat"
	"gprof/stream"
)

const (
	// batchRows is how many rows a worker gathers before it hands them on.
	batchRows = 8192

	// seriesRows is how many rows each series has then, if they are thousands: to hand on a batch costs as much
	// as some rows.
	seriesRows = 16

	// trackRows is the same for tracks of which samples are gathered: there a row takes less memory, and all rows of a
	// track that come at a time are sorted at once.
	trackRows = 64

	// manyRows is how many rows a worker gathers at most, or fewRows of each track if that is more, but never more than
	// maxRows. Each time they are sorted, handed on, and merged with those before, costs as much for a track as some rows.
	manyRows = 16 * batchRows
	fewRows  = 8
	maxRows  = 2 * manyRows
)

// worker decodes one unit after the other. Of the run's tables it knows ids that
// it asked for once.
type worker struct {
	run   *run
	queue *queue
	read  func(bytes int64)

	// Of the unit.
	job                     job
	active                  bool
	blocks                  chunks.Reader
	views                   map[*dictionary]*view
	spare                   *view  // to use again; nil: none
	lanes                   []lane // of the process, as many as fit; others are by themselves
	first                   stream.Time
	latest                  stream.Time
	placedFirst, placedLast stream.Time    // of markers with times of the program's
	known                   []stream.Range // positions that were read

	// Of the chunk and page being read.
	chunk    *chunks.Image
	view     *view
	index    uint64 // of the entry
	next     uint64 // of the one after it
	tick     uint64
	monoTSC  bool // ticks need converting
	uneven   bool // they do, or the clock has pieces; else a moment is a tick and offset
	offset   stream.Time
	segment  segment // of the last tick
	context  context
	labels   stream.LabelsID // of the context
	where    *lane           // of the context; nil until a marker needs it
	id       []byte          // scratch: the text of an id
	stack    inlineStackRef
	sampling sampling
	last     lastSamples
	pending  [64]pendingSample
	waiting  uint    // of pending
	places   []place // of pending, while samples of many tracks are gathered
	entry    entry

	trackNames dedupe.Recent

	rows  rows
	notes notes
}

type context struct{ goroutine, track, root, start uint64 }

// inlineStackRef is a stack block's stack and the index of the only entry that may use it.
type inlineStackRef struct {
	link stackLink
	next uint64
}

// noStackBlock is that of none.
var noStackBlock = inlineStackRef{next: math.MaxUint64}

// newWorker returns a worker that gathers up to so many rows.
func newWorker(r *run, q *queue, rowsAtMost int, read func(int64)) *worker {
	return &worker{run: r, queue: q, read: read, views: map[*dictionary]*view{}, rows: rows{pending: map[stream.Series]*stream.Batch{}, most: rowsAtMost, free: freeList{most: spareRows(rowsAtMost)}}}
}

// step works until there are rows to hand on. It returns false when no work is
// left; the last rows are then ready, too.
func (w *worker) step() bool {
	for {
		for w.active && !w.rows.full() {
			w.advance()
		}
		if w.rows.full() {
			return true
		}
		j, ok := w.queue.take()
		switch {
		case !ok:
			w.run.tables.Lock()
			w.run.finishEnded()
			w.run.tables.Unlock()
			return false
		case j.prepare:
			w.prepare(j.process)
		default:
			w.begin(j)
		}
	}
}

func (w *worker) prepare(p *process) {
	w.run.prepare(p)
	if w.queue.prepared(p) {
		w.finish(p)
	}
}

// finish frees what a process has, and leaves the rest to one who will hold the tables anyway.
func (w *worker) finish(p *process) {
	w.view, w.where = nil, nil
	w.forget()
	p.free(&w.run.pool)
	w.run.ended.Lock()
	w.run.ended.processes = append(w.run.ended.processes, p)
	w.run.ended.Unlock()
	w.queue.finished(p)
}

// begin starts a unit.
func (w *worker) begin(j job) {
	if w.job.process != j.process {
		w.forget()
		w.rows.free.forget()
		w.rows.gathers = false // this one may have few tracks
	}
	w.job, w.active, w.chunk, w.segment = j, true, nil, segment{}
	w.first, w.latest, w.known = math.MaxInt64, math.MinInt64, w.known[:0]
	w.placedFirst, w.placedLast = math.MaxInt64, math.MinInt64
	w.blocks.Reset(j.images, w.problem)
}

// advance decodes one run of blocks, or ends the unit.
func (w *worker) advance() {
	if !w.blocks.NextRun() {
		w.end()
		return
	}
	u := w.blocks.Run()
	if u.Fresh || u.Chunk != w.chunk {
		w.enter(u.Chunk)
	}
	w.cover(stream.Range{From: u.Index, To: u.Index + uint64(len(u.Data))})
	w.decode(&u)
}

// cover notes that positions were read.
func (w *worker) cover(r stream.Range) {
	if last := len(w.known) - 1; last >= 0 && w.known[last].To == r.From {
		w.known[last].To = r.To
		return
	}
	w.known = append(w.known, r)
}

// end tells the process what the unit was.
func (w *worker) end() {
	p := w.job.process
	for _, im := range w.job.images {
		w.read(int64(im.Header.Commit.Offset()))
	}
	w.run.ended.Lock()
	p.first, p.latest = min(p.first, w.first), max(p.latest, w.latest)
	p.placedFirst, p.placedLast = min(p.placedFirst, w.placedFirst), max(p.placedLast, w.placedLast)
	p.known = append(p.known, w.known...)
	w.run.ended.Unlock()
	w.flushNotes()
	w.active = false
	err := w.blocks.Err()
	if w.run.goOn {
		err = nil // w.problem was told of it
	}
	if w.queue.done(w.job, err) {
		w.finish(p)
	}
}

// enter begins another chunk, or another page after damage.
func (w *worker) enter(im *chunks.Image) {
	if w.chunk == nil || !im.Continues(w.chunk) {
		w.last.clear()
	}
	w.chunk, w.view = im, w.viewOf(uint32(im.Header.Generation))
	w.monoTSC = im.Header.Clock() == rawformat.ClockTSC
	w.uneven, w.offset = w.monoTSC || w.job.process.Clock.pieces != nil, stream.Time(w.job.process.Clock.offset)
	w.tick, w.stack = w.openTick(im), noStackBlock
	w.context, w.labels, w.where, w.sampling = context{}, 0, nil, sampling{}
}

// setWho begins another context. Mostly it is another goroutine's, on the same
// track.
func (w *worker) setWho(c context) {
	if c.track != w.context.track || c.root != w.context.root || w.context.start != 0 {
		w.where = nil
	}
	w.context = c
}

// openTick is the time base of a chunk that straddles and so needs no sync.
func (w *worker) openTick(im *chunks.Image) uint64 {
	if w.monoTSC {
		return im.Header.Open.TSC
	}
	return im.Header.Open.Monotonic
}

// decode decodes the blocks of a run.
func (w *worker) decode(u *chunks.Run) {
	size := len(u.Data)
	data := u.Data[:size+rawformat.Slack]
	for at := 0; at < size; {
		if read := sampleReaders[data[at+1]]; read != nil {
			if at = read(w, u, at); at == size {
				break
			}
			if w.waiting == uint(len(w.pending)) {
				w.addSamples()
				continue
			}
		}
		w.index = u.Index + uint64(at)
		n, body := int(data[at]), at+1
		if n >= 0x80 {
			long, width, _ := rawformat.ReadUint(data[at:]) // the reader has checked it
			n, body = int(long), at+width
		}
		at = body + n
		w.next = u.Index + uint64(at)
		kind := rawformat.Kind(data[body])
		if !w.entry.read(&layouts[kind], data, body+1, at) || handlers[kind] == nil {
			w.strictly(kind, rawformat.NewCursor(data[body+1:at], u.Off+int64(body)+1))
			continue
		}
		w.handle(kind)
	}
	w.addSamples()
}

// handle does what an entry that was taken apart asks for.
func (w *worker) handle(k rawformat.Kind) {
	if i := layouts[k].time; i >= 0 {
		w.time(i, layouts[k].unit)
	}
	handlers[k](w, &w.entry)
}

// strictly decodes an entry that is out of the common.
func (w *worker) strictly(k rawformat.Kind, c rawformat.Cursor) {
	if handlers[k] == nil {
		w.add(stream.Line{Reason: stream.ReasonUnknownKind, What: "blocks", Where: fmt.Sprintf("kind %d", k), Count: 1, Bytes: int64(c.Len())})
		return
	}
	parsed, err := w.entry.readStrictly(k, &c)
	if err == nil {
		w.handle(k)
		return
	}
	if i := layouts[k].time; i >= 0 && i < parsed {
		w.time(i, layouts[k].unit) // the next entry's time counts from this one's
	}
	if k == rawformat.KindSampling || k == rawformat.KindBusy || k == rawformat.KindBusyFor {
		w.sampling = sampling{} // what builds on it is not known
	}
	w.note(stream.ReasonMalformed, "blocks", rawformat.Kinds[k].Name)
}

// time reads the entry's T or C.
func (w *worker) time(i int, unit uint64) {
	w.tick += uint64(rawformat.Unzigzag(w.entry.v[i])) * unit
	at := stream.Time(w.tick) + w.offset
	if w.uneven {
		at = w.moment(w.tick)
	}
	w.entry.at = at
	w.first, w.latest = min(w.first, at), max(w.latest, at)
}

func (w *worker) moment(tick uint64) stream.Time {
	if w.monoTSC {
		tick = w.monotonic(tick)
	}
	return w.job.process.Clock.At(tick)
}

// signedMoment is moment of a tick that may lie before the counter's 0, which is when the machine
// was started.
func (w *worker) signedMoment(tick int64) stream.Time {
	if tick >= 0 || !w.monoTSC {
		return w.moment(uint64(tick))
	}
	return w.job.process.Clock.At(w.job.process.ticks.before(uint64(-tick)))
}

func (w *worker) monotonic(tick uint64) uint64 {
	t := w.job.process.ticks
	if len(t) < 2 {
		return t.monotonic(tick)
	}
	return w.segment.at(t, tick)
}

// inlineStack is what a stack field holds that means the stack block before its
// entry. 0 is no stack, and others are ids plus 1.
const inlineStack = 1

// stackOf resolves a stack field.
func (w *worker) stackOf(field uint64) stream.StackID {
	switch field {
	case 0:
		return 0
	case inlineStack:
		return w.inlineLink().sid
	}
	sid := w.view.dict.stack(field - 1).sid
	if sid == 0 {
		w.note(stream.ReasonUndefined, "stacks", "")
	}
	return sid
}

// inlineLink is the stack of the block before the entry.
func (w *worker) inlineLink() stackLink {
	if w.stack.next != w.index {
		w.note(stream.ReasonUndefined, "stacks", "inline")
		return stackLink{}
	}
	return w.stack.link
}

// text resolves a string id.
func (w *worker) text(id uint64) []byte {
	t := w.view.dict.strings.get(id)
	if t.at == 0 && id != 0 {
		w.note(stream.ReasonUndefined, "strings", "")
		return fmt.Appendf(nil, "string %d", id)
	}
	return w.view.dict.bytes(t)
}

// note adds one to a line of the ledger, add a whole line.
func (w *worker) note(r stream.Reason, what, where string) {
	w.add(stream.Line{Reason: r, What: what, Where: where, Count: 1})
}

func (w *worker) add(l stream.Line) {
	l.Process = w.job.process.instance
	if w.notes.add(l); w.notes.full() {
		w.flushNotes()
	}
}

func (w *worker) flushNotes() {
	if len(w.notes.lines) > 0 {
		w.run.tables.Lock()
		w.notes.flush(&w.run.tables.Ledger)
		w.run.tables.Unlock()
	}
}

func (w *worker) problem(p chunks.Problem) { w.add(w.job.process.line(p)) }

// rows are the batches being filled, one for each series.
type rows struct {
	pending map[stream.Series]*stream.Batch
	order   []*stream.Batch // pending, by first use
	free    freeList
	count   int    // rows in order
	most    int    // of them
	flight  uint32 // counts hand-overs

	gathers  bool      // samples, because those before were of very many tracks
	gathered *gathered // nil: none yet
	tracks   int       // of the last ones gathered
	spare    *gathered // to reuse; nil: none

	numbering uint32 // counts how often series that are gathered got new numbers

	buffers, spareBuffers []*sampleBuffer // of the batches in order, and to reuse
}

// handed is rows that are handed over.
type handed struct {
	batches []*stream.Batch
	samples *gathered // nil: all are in batches
}

// freeList is batches to reuse. A series gets the one that it had before, if that came back: its
// next part is mostly about as long, so that no column needs to grow, and a batch does not get the
// columns of all kinds. A batch has room for the longest part that it ever held, so not all are kept.
type freeList struct {
	known map[stream.Series]*stream.Batch // by the series that they had
	other []*stream.Batch
	rows  int // room in all
	most  int // of rows, if that is more than minSpare
}

const minSpare = 16 * batchRows

// spareRows is the room of batches to keep if a worker gathers so many rows. Those beyond manyRows have no batches.
func spareRows(rowsAtMost int) int { return 2 * min(rowsAtMost, manyRows) }

// give keeps a batch, mostly for the series that it had.
func (s *freeList) give(b *stream.Batch) {
	if s.known[b.Series] != nil {
		s.giveAny(b)
	} else if s.fits(b) {
		if s.known == nil {
			s.known = make(map[stream.Series]*stream.Batch)
		}
		s.known[b.Series] = b
	}
}

// giveAny keeps a batch for any series.
func (s *freeList) giveAny(b *stream.Batch) {
	if s.fits(b) {
		s.other = append(s.other, b)
	}
}

// fits takes the room of a batch, if there is so much.
func (s *freeList) fits(b *stream.Batch) bool {
	n := s.rows + cap(b.Time)
	if n > max(minSpare, s.most) {
		return false
	}
	s.rows = n
	return true
}

// take returns a batch for a series, a new one if there is none.
func (s *freeList) take(of stream.Series) *stream.Batch {
	b := s.known[of]
	if b == nil {
		return s.takeAny()
	}
	delete(s.known, of)
	s.rows -= cap(b.Time)
	return b
}

func (s *freeList) takeAny() *stream.Batch {
	n := len(s.other) - 1
	if n < 0 {
		return new(stream.Batch)
	}
	b := s.other[n]
	s.other, s.rows = s.other[:n], s.rows-cap(b.Time)
	return b
}

// forget lets any series have the batches, because those that had them end.
func (s *freeList) forget() {
	for _, b := range s.known {
		s.other = append(s.other, b)
	}
	clear(s.known)
}

// slot caches the batch of one series until the next hand-over, so that most rows need no map
// lookup.
type slot struct {
	batch  *stream.Batch
	flight uint32 // of batch; the first is 1
}

// in returns the batch of a series, always the same one for a slot.
func (r *rows) in(s *slot, of stream.Series, args int) *stream.Batch {
	if r.current(s) == nil {
		s.batch, s.flight = r.batch(of, args), r.flight+1
	}
	return s.batch
}

// current returns the batch in a slot, nil if it was handed over.
func (r *rows) current(s *slot) *stream.Batch {
	if s.flight != r.flight+1 {
		return nil
	}
	return s.batch
}

func (r *rows) batch(s stream.Series, args int) *stream.Batch {
	b, ok := r.pending[s]
	if !ok {
		b = r.free.take(s)
		b.Reset(s, args)
		r.pending[s] = b
		r.order = append(r.order, b)
	}
	return b
}

// full reports whether there are enough rows to hand on. If their series are many, and samples are not gathered yet, that is
// soon: their batches need not grow.
func (r *rows) full() bool {
	if r.count < batchRows {
		return false
	}
	return !r.gathers && len(r.order) >= manyTracks || r.count >= r.enough()
}

// enough is how many rows are to be gathered if there are as many tracks as the last time.
func (r *rows) enough() int {
	return min(seriesRows*len(r.order)+trackRows*r.tracks, max(manyRows, fewRows*r.tracks), r.most)
}

// gather adds a sample to those that have no batch yet, by the number of its series.
func (r *rows) gather(number int32, s *stream.SampleRow) {
	*r.gathering().add(number) = *s
	r.count++
}

// gathering is what samples are gathered in until the next hand-over.
func (r *rows) gathering() *gathered {
	if r.gathered == nil {
		if r.gathered, r.spare = r.spare, nil; r.gathered == nil {
			r.gathered = new(gathered)
		}
		if r.gathered.reset(r.enough()) {
			r.numbering++
			r.gathered.renumber(r.numbering)
		}
	}
	return r.gathered
}

// reuse takes back what was gathered, nil for nothing.
func (r *rows) reuse(g *gathered) {
	if g != nil {
		r.spare = g
	}
}

// hand hands over all rows, and begins anew. Batches are appended to full.
func (r *rows) hand(full []*stream.Batch) (h handed) {
	r.flush()
	h.batches, h.samples = append(full, r.order...), r.gathered
	r.gathered, r.tracks = nil, 0
	if h.samples != nil {
		h.samples.sort()
		r.tracks = h.samples.with
	}
	r.gathers = max(len(r.order), r.tracks) >= manyTracks
	r.order, r.count = r.order[:0], 0
	r.flight++
	clear(r.pending)
	return h
}
