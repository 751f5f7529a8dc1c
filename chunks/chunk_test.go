package chunks

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"gprof/rawformat"
)

// After each step of opening a chunk again the process may be killed, or a
// copy of the file made. What lies there is then the old use, the new one, or
// none; and a copy that was begun before the first step, header first, is not
// taken for whole once anything else has changed.
func TestOpenStepByStep(t *testing.T) {
	mem := make([]byte, testFile)
	c := fileChunk(mem)
	c.fixed = rawformat.Header{Instance: testInstance, Epoch: 1, RangeStart: 1, Capacity: testCapacity}
	c.open()
	putBlocks(c, 5000, 5000)
	c.close(rawformat.Anchor{Monotonic: 9})
	if err := c.seal(true); err != nil {
		t.Fatal(err)
	}
	old := bytes.Clone(mem)
	c.fixed.Epoch, c.fixed.RangeStart, c.fixed.Close = 2, 1+testCapacity, rawformat.Anchor{}
	c.fixed.State, c.fixed.Commit = rawformat.StateInUse, 0
	last := len(openSteps) - 1
	for i, step := range openSteps {
		before := bytes.Clone(mem)
		step(c)
		h, _, err := rawformat.ReadHeader(mem)
		if err != nil || i < last && h.Epoch != 0 || i == last && h != c.fixed {
			t.Errorf("step %d: %+v, %v", i, h, err)
		}
		_, epoch := rawformat.ReadTrailer(mem[len(mem)-rawformat.TrailerSize:])
		if rest := mem[rawformat.OffCommit:]; !bytes.Equal(rest, old[rawformat.OffCommit:]) && epoch == 1 {
			t.Errorf("step %d: the rest has changed, and the trailer still fits the old header", i)
		}
		if bytes.Equal(before, mem) {
			t.Errorf("step %d changes nothing", i)
		}
	}
	if n := checkSeals(t, c); n != 0 || c.Header().Commit != 0 {
		t.Errorf("%d pages sealed, commit %x", n, c.Header().Commit)
	}
}

// A file that was never used says so.
func TestBlankChunk(t *testing.T) {
	for what, c := range map[string]*Chunk{"file": fileChunk(make([]byte, testFile)), "heap": NewChunk(1000)} {
		h, sealed, err := rawformat.ReadHeader(c.head)
		if err != nil || sealed || h.Epoch != 0 || h.State != rawformat.StateCreated || int(h.Capacity) != len(c.Payload()) {
			t.Errorf("%s: %+v, %v, %v", what, h, sealed, err)
		}
	}
	if c := NewChunk(1001); len(c.Payload()) != 1001 || cap(c.Payload()) != 1001 {
		t.Errorf("payload %d of %d", len(c.Payload()), cap(c.Payload()))
	}
}

// Each operation is allowed in some states only, and leads to one.
func TestChunkStates(t *testing.T) {
	const created, inUse, full, done, recycled = rawformat.StateCreated, rawformat.StateInUse, rawformat.StateFull, rawformat.StateDone, rawformat.StateRecycled
	in := map[rawformat.State]func(c *Chunk){
		created:  func(c *Chunk) {},
		inUse:    func(c *Chunk) { c.openTail(0) },
		full:     func(c *Chunk) { c.openTail(0); c.reserve(10) },
		done:     func(c *Chunk) { c.openTail(0); c.finish(rawformat.Anchor{}) },
		recycled: func(c *Chunk) { c.recycle() },
	}
	for _, op := range []struct {
		name    string
		do      func(c *Chunk)
		allowed []rawformat.State
		to      rawformat.State
	}{
		{"openTail", func(c *Chunk) { c.openTail(3) }, []rawformat.State{created, recycled}, inUse},
		{"reserve some", func(c *Chunk) { c.reserve(3) }, []rawformat.State{inUse}, inUse},
		{"reserve all", func(c *Chunk) { c.reserve(10) }, []rawformat.State{inUse}, full},
		{"reserve more", func(c *Chunk) { c.reserve(11) }, []rawformat.State{inUse}, full},
		{"finish", func(c *Chunk) { c.finish(rawformat.Anchor{}) }, []rawformat.State{inUse, full}, done},
		{"recycle", func(c *Chunk) { c.recycle() }, []rawformat.State{done, created, recycled}, recycled},
	} {
		for state, prepare := range in {
			c := NewChunk(10)
			prepare(c)
			if c.State() != state {
				t.Fatalf("state %d, want %d", c.State(), state)
			}
			bug := caught(func() { op.do(c) })
			if allowed := slices.Contains(op.allowed, state); allowed != (bug == "") {
				t.Errorf("%s in state %d: %q", op.name, state, bug)
			} else if allowed && c.State() != op.to {
				t.Errorf("%s in state %d leads to %d, want %d", op.name, state, c.State(), op.to)
			}
		}
	}
}

// caught is what f panics with, if it is a bug of ours.
func caught(f func()) (bug string) {
	defer func() {
		if s, ok := recover().(string); ok && strings.HasPrefix(s, "internal error: ") {
			bug = s
		}
	}()
	f()
	return ""
}

// A reservation is clipped to what is left; a tail is no block; recycling
// forgets all but the capacity.
func TestChunkReserve(t *testing.T) {
	c := NewChunk(10)
	c.fixed.RangeStart, c.fixed.Epoch = 100, 5
	if tail := c.openTail(3); len(tail) != 3 || c.left() != 7 {
		t.Errorf("tail of %d bytes, %d left", len(tail), c.left())
	}
	c.commit()
	if h := c.Header(); h.FirstBlock != 3 || h.Commit != rawformat.MakeCommit(3, 0) || h.RangeStart != 100 {
		t.Errorf("%+v", h)
	}
	a, b := c.reserve(4), c.reserve(4)
	a[0], b[0] = 'a', 'b'
	if len(a) != 4 || len(b) != 3 || c.Payload()[3] != 'a' || c.Payload()[7] != 'b' {
		t.Errorf("%d and %d bytes in %q", len(a), len(b), c.Payload())
	}
	c.commit()
	if h := c.Header(); h.Commit != rawformat.MakeCommit(10, 2) || h.State != rawformat.StateFull {
		t.Errorf("%+v", h)
	}
	c.finish(rawformat.Anchor{Monotonic: 77})
	if h := c.Header(); h.Close.Monotonic != 77 || h.Commit.Offset() != 10 {
		t.Errorf("%+v", h)
	}
	c.recycle()
	if h, want := c.Header(), (rawformat.Header{Capacity: 10, State: rawformat.StateRecycled}); h != want {
		t.Errorf("%+v, want %+v", h, want)
	}
}
