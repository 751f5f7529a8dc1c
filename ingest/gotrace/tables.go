package gotrace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"gprof/ingest/internal/damage"
)

// Limits of the format.
const (
	maxFrames = 128     // of a stack
	maxText   = 1 << 10 // bytes of a string
)

// tables are all that the events of a generation refer to.
type tables struct {
	texts   []string // the first is "", which 0 refers to
	textIDs ids

	stacks   []span // by stackRef; the first is empty
	stackIDs ids
	calls    []uint32 // of all stacks, the innermost first: indexes of frames
	frames   []frame
	pcs      map[uint64]uint32 // indexes of frames; nil after loading

	samples []sample

	first  uint64  // time of the first batch, in ticks
	tick   float64 // ns; 0: unknown
	anchor *Anchor // nil: none
	snap   uint64  // the anchor's trace time, in ticks
	bytes  int64   // of texts
}

// span is where a stack's calls are.
type span struct{ from, to uint32 }

// unreadable is a stack that a sample refers to, and that is in no table.
var unreadable = span{1, 0}

// frame is a call of a program counter. Its names are ids of strings until all tables are read, indexes from then on.
type frame struct{ function, file, line uint64 }

// sample is a CPU sample.
type sample struct {
	time                         int64 // ticks until all tables are read, ns from then on
	goroutine, processor, thread int64
	id                           uint64 // of its stack
	stack                        stackRef
}

func newTables() *tables {
	return &tables{texts: make([]string, 1), stacks: make([]span, 1), pcs: map[uint64]uint32{}}
}

// held is the memory that the tables take.
func (t *tables) held() int64 {
	const entry = 32 // of a map
	return t.bytes + t.textIDs.held() + t.stackIDs.held() + entry*int64(len(t.pcs)) +
		int64(cap(t.texts))*int64(unsafe.Sizeof("")) + int64(cap(t.stacks))*int64(unsafe.Sizeof(span{})+unsafe.Sizeof(stackInfo{})) + int64(cap(t.calls))*4 +
		int64(cap(t.frames))*int64(unsafe.Sizeof(frame{})) + int64(cap(t.samples))*int64(unsafe.Sizeof(sample{}))
}

// time converts ticks.
func (t *tables) time(ticks uint64) int64 { return int64(float64(ticks) * t.tick) }

// add reads a batch that is a table.
func (t *tables) add(version int, b batch, data []byte) (err error) {
	c := cursor{rest: data}
	if b.first != kindFrequency {
		c.byte() // each entry of the others says that it is one
	}
	switch b.first {
	case evStrings:
		err = t.addTexts(&c)
	case evStacks:
		err = t.addStacks(&c)
	case evCPUSamples:
		err = t.addSamples(&c)
	default:
		err = t.sync(version, b, &c)
	}
	if err == nil && c.short {
		err = fmt.Errorf("%w: a table ends within an entry", damage.ErrDamaged)
	}
	return err
}

// expect reads the byte with which an entry begins.
func (c *cursor) expect(want byte) error {
	if got := c.byte(); got != want {
		return fmt.Errorf("%w: a %d in a table of %d", damage.ErrDamaged, got, want)
	}
	return nil
}

// addTexts keeps a batch's strings in one piece of memory.
func (t *tables) addTexts(c *cursor) error {
	all := string(c.rest)
	t.bytes += int64(len(all))
	for len(c.rest) > 0 && !c.short {
		if err := c.expect(evString); err != nil {
			return err
		}
		id, size := c.number(), c.number()
		if size > maxText {
			return fmt.Errorf("%w: a string of %d bytes, of %d at most", damage.ErrDamaged, size, maxText)
		}
		from := len(all) - len(c.rest)
		if c.skip(int(size)); c.short {
			return nil
		}
		if !t.textIDs.add(id, len(t.texts)) {
			return fmt.Errorf("%w: two strings %d", damage.ErrDamaged, id)
		}
		t.texts = append(t.texts, all[from:from+int(size)])
	}
	return nil
}

func (t *tables) addStacks(c *cursor) error {
	for len(c.rest) > 0 && !c.short {
		if err := c.expect(evStack); err != nil {
			return err
		}
		id, n := c.number(), c.number()
		if n > maxFrames {
			return fmt.Errorf("%w: a stack of %d frames, of %d at most", damage.ErrDamaged, n, maxFrames)
		}
		from := len(t.calls)
		for range n {
			pc, f := c.number(), frame{c.number(), c.number(), c.number()}
			at, known := t.pcs[pc]
			if !known {
				at = uint32(len(t.frames))
				t.pcs[pc] = at
				t.frames = append(t.frames, f)
			}
			t.calls = append(t.calls, at)
		}
		if c.short {
			return nil
		}
		if len(t.calls) > math.MaxUint32 {
			return fmt.Errorf("%w: more than %d calls of stacks", damage.ErrTooBig, uint32(math.MaxUint32))
		}
		if !t.stackIDs.add(id, len(t.stacks)) {
			return fmt.Errorf("%w: two stacks %d", damage.ErrDamaged, id)
		}
		t.stacks = append(t.stacks, span{uint32(from), uint32(len(t.calls))})
	}
	return nil
}

func (t *tables) addSamples(c *cursor) error {
	for len(c.rest) > 0 && !c.short {
		if err := c.expect(evCPUSample); err != nil {
			return err
		}
		s := sample{time: int64(c.number()), thread: int64(c.number()), processor: int64(c.number()), goroutine: int64(c.number()), id: c.number()}
		if s.goroutine == 0 {
			s.goroutine = none
		}
		t.samples = append(t.samples, s)
	}
	return nil
}

// sync reads the rate of the clock, and its reading if there is one.
func (t *tables) sync(version int, b batch, c *cursor) error {
	for len(c.rest) > 0 && !c.short {
		switch got := c.byte(); {
		case got == kindFrequency && t.tick == 0:
			t.tick = 1 / (float64(c.number()) / 1e9)
		case got == kindSnapshot && version >= version25 && t.anchor == nil:
			t.snap = b.ticks + c.number()
			t.anchor = &Anchor{Mono: c.number()}
			t.anchor.Wall = int64(c.number()) * second
			t.anchor.Wall += int64(c.number())
		default:
			return fmt.Errorf("%w: a %d, or another one, beside the rate of the clock", damage.ErrDamaged, got)
		}
	}
	return nil
}

// finish is called when all tables are read.
func (t *tables) finish(version int) error {
	switch {
	case t.tick == 0:
		return fmt.Errorf("%w: no rate of the clock", damage.ErrDamaged)
	case t.anchor == nil && version >= version25:
		return fmt.Errorf("%w: no reading of the clock", damage.ErrDamaged)
	case t.anchor != nil:
		t.anchor.Trace = t.time(t.snap)
	}
	t.pcs = nil
	t.textIDs.finish()
	t.stackIDs.finish()
	for i := range t.frames {
		f := &t.frames[i]
		function, ok := t.textIDs.index(f.function)
		file, known := t.textIDs.index(f.file)
		if !ok || !known {
			return fmt.Errorf("%w: no string %d or %d, which a stack has", damage.ErrDamaged, f.function, f.file)
		}
		f.function, f.file = uint64(function), uint64(file)
	}
	t.finishSamples()
	return nil
}

func (t *tables) finishSamples() {
	lost := map[uint64]stackRef{}
	for i := range t.samples {
		s := &t.samples[i]
		s.time = t.time(uint64(s.time))
		at, ok := t.stackIDs.index(s.id)
		if !ok {
			if at = uint32(lost[s.id]); at == 0 {
				at = uint32(len(t.stacks))
				t.stacks = append(t.stacks, unreadable)
				lost[s.id] = stackRef(at)
			}
		}
		s.stack = stackRef(at)
	}
	slices.SortFunc(t.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
}

// text is the string of an id.
func (t *tables) text(id uint64) (string, error) {
	at, ok := t.textIDs.index(id)
	if !ok {
		return "", fmt.Errorf("%w: no string %d", damage.ErrDamaged, id)
	}
	return t.texts[at], nil
}

// stack is the stack of an id.
func (t *tables) stack(id uint64) (stackRef, error) {
	at, ok := t.stackIDs.index(id)
	if !ok {
		return 0, fmt.Errorf("%w: no stack %d", damage.ErrDamaged, id)
	}
	return stackRef(at), nil
}

// appendCalls appends the calls of a stack, the innermost first. If the stack is unreadable, ok is false.
func (t *tables) appendCalls(calls []call, s stackRef) (out []call, ok bool) {
	at := t.stacks[s]
	if at == unreadable {
		return calls, false
	}
	for _, i := range t.calls[at.from:at.to] {
		f := &t.frames[i]
		calls = append(calls, call{t.texts[f.function], t.texts[f.file], f.line})
	}
	return calls, true
}

// ids give the entries of a table by their ids. The runtime's are dense, so that a slice has them; a file's may be anything.
type ids struct {
	dense  []uint32
	sparse map[uint64]uint32 // nil if dense
	most   uint64
}

// add adds an id, which must be new, and not 0, which is that of nothing.
func (t *ids) add(id uint64, index int) (ok bool) {
	if t.sparse == nil {
		t.sparse = map[uint64]uint32{}
	}
	if _, known := t.sparse[id]; known || id == 0 {
		return false
	}
	t.sparse[id] = uint32(index)
	t.most = max(t.most, id)
	return true
}

// finish is called when there are all.
func (t *ids) finish() {
	if t.most > 2*uint64(len(t.sparse)) {
		return
	}
	t.dense = make([]uint32, t.most+1)
	for id, index := range t.sparse {
		t.dense[id] = index
	}
	t.sparse = nil
}

// index is the entry of an id; 0 has the first.
func (t *ids) index(id uint64) (index uint32, ok bool) {
	switch {
	case id == 0:
		return 0, true
	case id < uint64(len(t.dense)):
		return t.dense[id], t.dense[id] != 0
	}
	index, ok = t.sparse[id]
	return index, ok
}

func (t *ids) held() int64 { return 4*int64(len(t.dense)) + 32*int64(len(t.sparse)) }
