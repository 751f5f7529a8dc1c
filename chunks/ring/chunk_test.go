package ring

import (
	"bytes"
	"testing"

	"gprof/rawformat"
)

// The process may be killed, or the file copied, after each step of opening a chunk again.
// The file then shows the old use, the new one, or none. A copy that was begun before the
// first step, header first, does not count as whole once anything else has changed.
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
