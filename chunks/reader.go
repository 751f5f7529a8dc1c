package chunks

import (
	"cmp"
	"slices"

	"gprof/rawformat"
)

// Block is one intact block. It is valid until the next call of Next.
type Block struct {
	Index  uint64
	Kind   rawformat.Kind
	Fields rawformat.Cursor // over the fields; offsets are those in the file
	Chunk  *Image           // in which the block begins
	Offset uint32           // in the payload of Chunk
	// Fresh means that the block before it in the chunk was not delivered, because this
	// is the first one or because of damage. A decoder must forget what it knows from
	// earlier blocks. The block is a sync block unless blocks of the chunk straddle.
	Fresh bool
}

// Run is a number of intact blocks that follow each other: [Reader.NextRun] returns them
// together, for callers to whom a call for each block costs too much.
type Run struct {
	Index  uint64 // of the first block
	Data   []byte // the blocks, with [rawformat.Slack] bytes of capacity behind them
	Off    int64  // of Data in the file
	Chunk  *Image // in which the first block begins
	Offset uint32 // of it, in the payload of Chunk
	Fresh  bool   // of the first block; as in Block
}

// Reader reads the blocks of chunks in the given order, and those of a chunk by index. It
// holds one payload in memory.
type Reader struct {
	images  []*Image
	report  func(Problem)
	content content
	walk    walk
	run     Run
	head    straddle
	err     error
}

// straddle is the beginning of a block whose end lies in the next chunk.
type straddle struct {
	bytes []byte
	at    uint32
	fresh bool
	image *Image // nil: none is open
}

// NewReader returns a reader of some chunks of a process, which should be in order of
// their range starts. Problems go to report, which may be nil, when their chunk is done.
func NewReader(images []*Image, report func(Problem)) *Reader {
	r := &Reader{}
	r.Reset(images, report)
	return r
}

// Reset makes r as new but reuses its buffers.
func (r *Reader) Reset(images []*Image, report func(Problem)) {
	if report == nil {
		report = func(Problem) {}
	}
	r.images, r.report, r.err = images, report, nil
	r.content = content{room: r.content.room, pages: r.content.pages[:0], problems: r.content.problems[:0]}
	r.walk, r.head, r.run = walk{c: &r.content}, straddle{bytes: r.head.bytes}, Run{}
}

// Block returns the block that the last Next found.
func (r *Reader) Block() Block {
	u := &r.run
	_, size, _ := rawformat.ReadUint(u.Data) // that of an intact block
	return Block{
		Index: u.Index, Kind: rawformat.Kind(u.Data[size]), Fields: rawformat.NewCursor(u.Data[size+1:], u.Off+int64(size)+1),
		Chunk: u.Chunk, Offset: u.Offset, Fresh: u.Fresh,
	}
}

// Run returns what the last NextRun found. It is valid until the next call.
func (r *Reader) Run() Run { return r.run }

// Err is the first error of reading a file. Reading went on after it, and a problem of
// class [Unreadable] reports it, so a caller that takes files as they are need not ask.
func (r *Reader) Err() error { return r.err }

// Next advances to the next intact block; false means that there is none.
func (r *Reader) Next() bool { return r.next(false) }

// NextRun advances to the next intact block, together with some or all intact blocks that
// follow it in its page. It skips the same blocks as Next, and reports the same
// problems.
func (r *Reader) NextRun() bool { return r.next(true) }

func (r *Reader) next(run bool) bool {
	var s span
	for !r.walk.next(&s) {
		r.leave()
		if len(r.images) == 0 {
			r.dropHead()
			return false
		}
		r.enter()
		if r.join() {
			return true
		}
	}
	if run {
		s.end = r.walk.extend()
	}
	c := &r.content
	r.run = Run{
		Index: c.header.RangeStart + uint64(s.at), Data: c.data[s.at:s.end], Off: rawformat.HeadSize + int64(s.at),
		Chunk: c.image, Offset: s.at, Fresh: s.fresh,
	}
	return true
}

// enter loads the next chunk.
func (r *Reader) enter() {
	err := r.content.load(r.images[0])
	r.err = cmp.Or(r.err, err)
	r.images = r.images[1:]
	r.walk = newWalk(&r.content)
}

// leave ends the chunk: it keeps the head of a straddling block and reports problems.
func (r *Reader) leave() {
	w := &r.walk
	if w.c.image == nil {
		return
	}
	if len(w.head) > 0 {
		r.head.bytes = append(r.head.bytes[:0], w.head...)
		r.head.image, r.head.at, r.head.fresh = w.c.image, w.at-uint32(len(w.head)), w.fresh
		w.head = nil
	}
	w.settle()
	for _, p := range w.c.problems {
		r.report(p)
	}
	w.c.problems = w.c.problems[:0]
	w.c.image = nil
}

// settle compares the number of delivered blocks with that in the commit word. If just one
// problem does not know how many blocks it cost, it is the missing ones.
func (w *walk) settle() {
	c := w.c
	if n := c.unprovenBytes(); n > 0 {
		c.problem(Unproven, "not sealed", w.unproof, n)
	}
	missing := int64(c.header.Commit.Blocks()) - w.blocks
	var open []*Problem
	for i := range c.problems {
		if c.problems[i].Blocks < 0 {
			open = append(open, &c.problems[i])
		}
	}
	switch {
	case !c.commitOK || c.image.until != 0: // how many of the blocks are those of another part is not known
	case len(open) == 1 && missing >= 0:
		open[0].Blocks = missing
	case len(open) == 0 && missing != 0:
		c.problem(Damaged, "number of blocks in the commit", max(missing, 0), 0)
	}
}

// join delivers the block that the previous chunk began, if this one begins with its
// tail.
func (r *Reader) join() bool {
	h, c := &r.head, &r.content
	if h.image == nil {
		return false
	}
	tail := c.header.FirstBlock
	if !r.adjacent() || tail > c.until(0) || tail == 0 {
		r.dropHead()
		return false
	}
	im := h.image
	whole := append(h.bytes, c.data[:tail]...)
	h.bytes = whole
	n, size, err := rawformat.ReadUint(whole)
	if err != nil || n == 0 || n > rawformat.MaxBlock || uint64(size)+n != uint64(len(whole)) {
		r.dropHead()
		return false
	}
	h.image = nil
	h.bytes = slices.Grow(whole, rawformat.Slack)
	r.run = Run{
		Index: im.Header.RangeStart + uint64(h.at), Data: h.bytes, Off: rawformat.HeadSize + int64(h.at),
		Chunk: im, Offset: h.at, Fresh: h.fresh,
	}
	return true
}

// adjacent reports whether the writer of the head went on in the loaded chunk.
func (r *Reader) adjacent() bool {
	a, b := &r.head.image.Header, &r.content.header
	return b.Straddles() && a.Writer == b.Writer && a.Instance == b.Instance && r.head.image.End() == b.RangeStart
}

// dropHead reports a straddling block whose end is missing.
func (r *Reader) dropHead() {
	if h := &r.head; h.image != nil {
		r.report(Problem{Torn, h.image.where(), "end of the last block is missing", 1, int64(len(h.bytes))})
		h.image = nil
	}
}
