package gotrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"gprof/ingest/internal/damage"
)

// Errors of a file, besides those of package damage.
var (
	ErrMagic   = errors.New("not a Go execution trace")
	ErrVersion = errors.New("execution trace of a version that can't be read")
	ErrTooMany = errors.New("too many generations")
	ErrEmpty   = errors.New("holds no complete generation of events")
)

// A file is a header of 16 bytes, then batches. Each batch belongs to a generation of about a
// second, and is of one thread or a table: strings, stacks, CPU samples, or a sync batch, which has
// the rate of the clock. A generation contains all that its events refer to. Since Go 1.26 a byte
// ends it; before, the next one's first batch did.
const (
	headerSize  = 16
	headerStart = "go 1."
	headerEnd   = " trace\x00\x00\x00"

	kindBatch        = 1
	kindFrequency    = 8
	kindExperimental = 49
	kindSync         = 50
	kindSnapshot     = 51
	kindEnd          = 52

	maxBatch = 64 << 10 // bytes of a batch after its head
	// maxGenerations bounds the generations kept of a file: twelve days at one a second.
	maxGenerations = 1 << 20
	// maxHead is a batch's first byte, an experiment, four numbers, and the first byte of the data.
	maxHead = 3 + 4*binary.MaxVarintLen64
	// maxSync is more than a sync batch: a rate and one clock reading.
	maxSync = 128
)

// Versions that change what a reader must know.
const (
	version22 = 22 // first with generations
	version25 = 25 // clock readings
	version26 = 26 // ends of generations
	newest    = version26
)

// generation is a part of a file that can be read on its own.
type generation struct {
	number   uint64 // consecutive
	from, to int64  // bytes of the file
	first    int64  // time of the first batch
	last     int64  // time of the last batch
	anchor   Anchor // Wall is 0 if there is none
	id       generationID
}

// Anchor is one reading of three clocks, in ns.
type Anchor struct {
	Trace int64  // of the trace
	Mono  uint64 // the monotonic clock of the machine
	Wall  int64  // since the Unix epoch
}

// IsTrace reports whether a file begins as an execution trace of any version.
func IsTrace(head []byte) bool {
	_, err := versionOf(head)
	return err == nil
}

// versionOf is N of "go 1.N trace".
func versionOf(head []byte) (int, error) {
	head = head[:min(len(head), headerSize)]
	rest, ok := bytes.CutPrefix(head, []byte(headerStart))
	digits, end := bytes.CutSuffix(rest, []byte(headerEnd))
	n, err := strconv.ParseUint(string(digits), 10, 16)
	if !ok || !end || err != nil {
		return 0, ErrMagic
	}
	return int(n), nil
}

// scan walks over the heads of all batches.
type scan struct {
	r       io.ReaderAt
	size    int64
	version int

	all     []generation
	current generation
	number  uint64 // of current; 0: none
	ticks   [2]uint64
	rate    float64 // ns of a tick; 0 unknown
	snap    snapshot
}

// snapshot is an Anchor whose trace time is in ticks.
type snapshot struct {
	ticks uint64
	Anchor
}

// batch is the head of a batch.
type batch struct {
	kind       byte
	experiment bool
	generation uint64
	thread     uint64
	ticks      uint64
	head, size int64 // bytes
	first      byte  // of the data; 0: none
}

// generations scans the file. The error is a *damage.Error that says where the scan ended early.
func (s *scan) generations() ([]generation, *damage.Error) {
	off := int64(headerSize)
	s.begin(off)
	for off < s.size {
		next, err := s.step(off)
		if err != nil {
			return s.all, &damage.Error{Off: off, Err: err}
		}
		off = next
	}
	if err := s.last(off); err != nil {
		return s.all, &damage.Error{Off: s.current.from, Err: err}
	}
	return s.all, nil
}

// last ends the last generation if nothing in the file does.
func (s *scan) last(off int64) error {
	switch {
	case s.number == 0:
		return nil
	case s.version >= version26:
		return fmt.Errorf("%w: the last generation has no end", damage.ErrTorn)
	}
	return s.finish(off)
}

// step takes the batch at an offset and returns the offset of the next.
func (s *scan) step(off int64) (next int64, err error) {
	b, err := s.batch(off)
	if err != nil {
		return 0, err
	}
	next = off + b.head + b.size
	if b.kind == kindEnd {
		return next, s.finish(next)
	}
	if next > s.size {
		return 0, fmt.Errorf("%w: a batch of %d bytes", damage.ErrTorn, b.size)
	}
	if s.number != 0 && b.generation != s.number {
		if s.version >= version26 || b.generation != s.number+1 {
			return 0, fmt.Errorf("%w: a batch of generation %d in generation %d", damage.ErrDamaged, b.generation, s.number)
		}
		if err := s.finish(off); err != nil {
			return 0, err
		}
	}
	s.add(b)
	return next, s.sync(off+b.head, b)
}

// batch reads the head of a batch.
func (s *scan) batch(off int64) (b batch, err error) {
	var buf [maxHead]byte
	n, err := s.r.ReadAt(buf[:], off)
	if err != nil && err != io.EOF {
		return b, err
	}
	c := cursor{rest: buf[:n]}
	b.kind = c.byte()
	switch b.kind {
	case kindEnd:
		b.head = 1
		if s.version < version26 {
			return b, fmt.Errorf("%w: an end of a generation before Go 1.26", damage.ErrDamaged)
		}
		return b, nil
	case kindExperimental:
		b.experiment = c.byte() != 0
	case kindBatch:
	default:
		return b, fmt.Errorf("%w: a batch begins with byte %d", damage.ErrDamaged, b.kind)
	}
	b.generation, b.thread, b.ticks, b.size = c.number(), c.number(), c.number(), int64(min(c.number(), math.MaxInt64))
	b.head = int64(n - len(c.rest))
	switch {
	case c.short:
		return b, fmt.Errorf("%w: the head of a batch", damage.ErrTorn)
	case b.generation == 0:
		return b, fmt.Errorf("%w: a batch of generation 0", damage.ErrDamaged)
	case b.size > maxBatch:
		return b, fmt.Errorf("%w: a batch of %d bytes, of %d at most", damage.ErrDamaged, b.size, maxBatch)
	case b.size > 0 && len(c.rest) > 0:
		b.first = c.rest[0]
	}
	return b, nil
}

// add adds a batch to the current generation.
func (s *scan) add(b batch) {
	if s.number == 0 {
		s.number, s.ticks = b.generation, [2]uint64{b.ticks, b.ticks}
	}
	s.ticks[0], s.ticks[1] = min(s.ticks[0], b.ticks), max(s.ticks[1], b.ticks)
}

// sync reads a sync batch.
func (s *scan) sync(at int64, b batch) error {
	if b.experiment || b.size == 0 || b.size > maxSync {
		return nil
	}
	buf := make([]byte, b.size)
	if _, err := s.r.ReadAt(buf, at); err != nil && err != io.EOF {
		return err
	}
	c := cursor{rest: buf}
	if s.version >= version25 && c.byte() != kindSync {
		return nil
	}
	ticks := b.ticks
	for len(c.rest) > 0 && !c.short {
		switch c.byte() {
		case kindFrequency:
			s.rate = 1e9 / float64(c.number())
		case kindSnapshot:
			ticks += c.number()
			s.snap = snapshot{ticks, Anchor{Mono: c.number(), Wall: int64(min(c.number(), maxTime/second)) * second}}
			s.snap.Wall += int64(min(c.number(), second))
		default:
			return nil // of events: in older versions nothing else tells them
		}
	}
	return nil
}

// finish ends the current generation before an offset.
func (s *scan) finish(off int64) error {
	if len(s.all) == maxGenerations {
		return fmt.Errorf("%w: more than %d", ErrTooMany, maxGenerations)
	}
	if s.rate == 0 || math.IsInf(s.rate, 0) {
		return fmt.Errorf("%w: generation %d does not tell the rate of its clock", damage.ErrDamaged, s.number)
	}
	g := s.current
	g.number, g.to, g.first, g.last = s.number, off, s.time(s.ticks[0]), s.time(s.ticks[1])
	if s.snap.Wall != 0 {
		g.anchor = s.snap.Anchor
		g.anchor.Trace = s.time(s.snap.ticks)
	}
	var err error
	if g.id, err = s.identify(g.from, off); err != nil {
		return err
	}
	s.all = append(s.all, g)
	s.begin(off)
	return nil
}

func (s *scan) begin(off int64) {
	s.current, s.number, s.rate, s.snap = generation{from: off}, 0, 0, snapshot{}
}

// time converts ticks like the library.
func (s *scan) time(ticks uint64) int64 {
	return int64(min(float64(ticks)*s.rate, maxTime))
}

// maxTime is the end of clocks: 146 years.
const maxTime = 1<<62 - 1

const second = 1_000_000_000

// cursor reads numbers.
type cursor struct {
	rest  []byte
	short bool
}

func (c *cursor) byte() byte {
	if len(c.rest) == 0 {
		c.short = true
		return 0
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

func (c *cursor) number() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		c.short, c.rest = true, nil
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

func (c *cursor) skip(n int) {
	if n > len(c.rest) {
		c.short, n = true, len(c.rest)
	}
	c.rest = c.rest[n:]
}
