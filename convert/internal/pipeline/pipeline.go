// Package pipeline writes a file whose pieces are made on several cores, plain or as one
// gzip member.
//
// Pieces are handed to [Writer.Write] as text, or to [Writer.Go] as a function that makes
// text, and are written in that order. That order alone decides where the file is split
// for compression, so its bytes are the same for any number of cores.
package pipeline

import (
	"hash/crc32"
	"io"
)

// Kind is the kind of a text, which chooses its compression.
type Kind uint8

const (
	Text    Kind = iota // words that repeat
	Numbers             // rows of numbers that hardly repeat
)

// Options are the options of a Writer. The zero value is a good choice.
type Options struct {
	Jobs  int  // pieces made at once; 0 is 1
	Gzip  bool // compress
	Level int  // 1 to 9 for all text; 0 for a fast one for each kind

	Cores Cores // shared with other Writers; nil: Jobs of its own
}

// Cores is shared by Writers that are in use at the same time: together they make so many
// pieces at once. It holds the compressor of each that is not being made: one has tables of half a
// megabyte, so a core has them in its cache only if it goes on with the same ones.
type Cores chan *deflater

// NewCores returns n Cores, at least one.
func NewCores(n int) Cores {
	c := make(Cores, min(max(n, 1), maxJobs))
	for range cap(c) {
		c <- new(deflater)
	}
	return c
}

const (
	// fragment is how much text from Write is compressed at a time: enough that each one's tables
	// at its beginning don't matter.
	fragment = 128 << 10
	// maxJobs bounds the memory of pieces being made. One goroutine hands them out, and can't keep
	// more cores busy.
	maxJobs = 8
	// keep is the largest buffer that is reused.
	keep = 4 << 20
)

// Writer writes to another. After an error nothing is written, and all calls return it.
//
// With more than one job it writes on goroutines of its own, until Close or Wait returns. They end
// by themselves even if neither is called.
type Writer struct {
	w      io.Writer
	jobs   int
	gzip   bool
	levels [2]int // by Kind
	failed failure
	member member

	pending []byte        // text before the next piece
	slots   chan *slot    // free ones
	cores   Cores         // lacks one for each piece being made
	last    chan struct{} // closed when everything handed over is written
	made    chan struct{} // closed when the piece handed over last is made
}

// slot is a piece being made.
type slot struct {
	text, packed []byte
	sum          uint32
}

// New returns a Writer to w, which it does not close. The error is that of a level.
func New(w io.Writer, o Options) (*Writer, error) {
	levels := [2]int{o.Level, o.Level}
	if o.Level == 0 {
		levels = [2]int{Text: fast, Numbers: huffman}
	}
	if err := checkLevel(levels[0]); err != nil {
		return nil, err
	}
	jobs := min(max(o.Jobs, 1), maxJobs)
	out := &Writer{w: w, jobs: jobs, gzip: o.Gzip, levels: levels, last: make(chan struct{}), cores: o.Cores}
	if out.cores == nil {
		out.cores = NewCores(jobs)
	}
	close(out.last)
	n := 1
	if jobs > 1 {
		n = jobs + 3 // one more is being filled, one written, and one may wait for another
	}
	out.slots = make(chan *slot, n)
	for range cap(out.slots) {
		out.slots <- new(slot)
	}
	if o.Gzip {
		out.write(out.member.header())
	}
	return out, nil
}

// Write adds text before what is handed over next. It copies p.
func (w *Writer) Write(p []byte) (int, error) {
	w.pending = append(w.pending, p...)
	if len(w.pending) >= fragment {
		w.Go(Text, nil)
	}
	return len(p), w.failed.err()
}

// Go adds a piece: a function that appends its text to the slice it is given. It is called once, on
// any goroutine, and must not use what its caller goes on to change. Go waits while too many pieces
// are being made.
func (w *Writer) Go(kind Kind, piece func(dst []byte) []byte) { w.hand(kind, piece, nil) }

// GoAfter is Go for a piece that can't be made before the last one. It keeps no core from others meanwhile.
func (w *Writer) GoAfter(kind Kind, piece func(dst []byte) []byte) { w.hand(kind, piece, w.made) }

// hand hands a piece over that is made once another one is; nil: at once.
func (w *Writer) hand(kind Kind, piece func(dst []byte) []byte, after <-chan struct{}) {
	s := <-w.slots
	s.text, w.pending = w.pending, s.text[:0]
	if w.jobs == 1 {
		core := <-w.cores
		w.fill(s, core, kind, piece)
		w.cores <- core
		w.finish(s)
		return
	}
	before, done, made := w.last, make(chan struct{}), make(chan struct{})
	w.last, w.made = done, made
	var core *deflater
	if after == nil {
		core = <-w.cores
	}
	go func() {
		if after != nil {
			<-after
			core = <-w.cores
		}
		w.fill(s, core, kind, piece)
		close(made)
		w.cores <- core
		<-before
		w.finish(s)
		close(done)
	}()
}

// fill makes a piece and the text before it.
func (w *Writer) fill(s *slot, core *deflater, kind Kind, piece func([]byte) []byte) {
	if w.failed.err() != nil {
		return
	}
	if piece != nil {
		s.text = piece(s.text)
	}
	if w.gzip {
		s.packed = core.append(s.packed[:0], s.text, w.levels[kind])
		s.sum = crc32.ChecksumIEEE(s.text)
	}
}

// finish writes a piece and frees its slot.
func (w *Writer) finish(s *slot) {
	if w.gzip {
		w.member.add(s.sum, len(s.text))
		w.write(s.packed)
	} else {
		w.write(s.text)
	}
	if cap(s.text)+cap(s.packed) > keep {
		s.text, s.packed = nil, nil
	}
	w.slots <- s
}

func (w *Writer) write(p []byte) {
	if len(p) == 0 || w.failed.err() != nil {
		return
	}
	_, err := w.w.Write(p)
	w.failed.set(err)
}

// Jobs is how many pieces may be made at once.
func (w *Writer) Jobs() int { return w.jobs }

// Err is the first error so far. Any goroutine may ask.
func (w *Writer) Err() error { return w.failed.err() }

// Wait waits until everything is written, and returns the first error.
func (w *Writer) Wait() error {
	if len(w.pending) > 0 {
		w.Go(Text, nil)
	}
	<-w.last
	return w.failed.err()
}

// Close finishes the file, and returns the first error.
func (w *Writer) Close() error {
	w.Wait()
	if w.gzip {
		w.write(w.member.trailer())
	}
	return w.failed.err()
}
