package chunks

import (
	"slices"
	"strings"
	"testing"

	"gprof/rawformat"
)

// straddling returns two chunks without sync blocks. The last block of the first one ends
// in the second one; cut is how many bytes of it the first one has.
func straddling(cut int) (a, b *testChunk) {
	const capacity = 1000
	a, b = newTestChunk(1, 5, capacity), newTestChunk(1+capacity, 6, capacity)
	for _, c := range []*testChunk{a, b} {
		c.h.Flags, c.noSync = rawformat.FlagStraddle, true
	}
	block := rawformat.AppendBlock(nil, logBody(strings.Repeat("over ", 40)))
	a.add(logBody(strings.Repeat("a", capacity-cut-7)))
	if len(a.payload) != capacity-cut {
		panic("internal error: first block has another size")
	}
	a.payload = append(a.payload, block[:cut]...)
	a.blocks++
	b.payload = append(b.payload, block[cut:]...)
	b.h.FirstBlock = uint32(len(block) - cut)
	b.firsts[0] = b.h.FirstBlock
	b.add(logBody("b"))
	return a, b
}

func TestStraddle(t *testing.T) {
	for _, cut := range []int{1, 2, 3, 100, 200} {
		for _, closed := range []bool{false, true} {
			a, b := straddling(cut)
			if closed {
				a.close()
				b.close()
			}
			blocks, problems := readAllBlocks(t, mustOpen(t, dirOf(map[string][]byte{"chunk-00000": a.file(), "chunk-00001": b.file()})))
			if len(blocks) != 3 || blocks[1].body != string(logBody(strings.Repeat("over ", 40))) || blocks[1].index != uint64(1+1000-cut) ||
				blocks[1].fresh || !blocks[2].fresh || hasClass(problems, Damaged, Torn) {
				t.Errorf("cut %d, closed %v: %v, %v", cut, closed, blocks, problems)
			}
		}
	}
}

// A head counts only with its tail, a tail only with its head.
func TestStraddleHalves(t *testing.T) {
	type change func(a, b *testChunk)
	for _, test := range []struct {
		name   string
		change change
		drop   string
		want   []uint64 // indexes
		class  ProblemClass
	}{
		{"tail missing", nil, "chunk-00001", []uint64{1}, Torn},
		{"head missing", nil, "chunk-00000", []uint64{1 + 1000 + 107}, Gap},
		{"another writer", func(_, b *testChunk) { b.h.Writer = 9 }, "", []uint64{1, 1108}, Torn},
		{"not adjacent", func(_, b *testChunk) { b.h.RangeStart += 1000 }, "", []uint64{1, 2108}, Torn},
		{"another length", func(_, b *testChunk) { b.h.FirstBlock = 106 }, "", []uint64{1}, Torn},
		{"head not committed", func(a, _ *testChunk) { a.payload, a.blocks = a.payload[:900], 1 }, "", []uint64{1, 1108}, numClasses},
		{"tail not committed", func(_, b *testChunk) { b.payload, b.blocks = b.payload[:50], 0 }, "", []uint64{1}, Torn},
	} {
		a, b := straddling(100)
		if test.change != nil {
			test.change(a, b)
		}
		files := map[string][]byte{"chunk-00000": a.file(), "chunk-00001": b.file()}
		delete(files, test.drop)
		blocks, problems := readAllBlocks(t, mustOpen(t, dirOf(files)))
		var got []uint64
		for _, d := range blocks {
			got = append(got, d.index)
		}
		if !slices.Equal(got, test.want) || test.class < numClasses && !hasClass(problems, test.class) {
			t.Errorf("%s: blocks at %v, want %v; %v", test.name, got, test.want, problems)
		}
	}
}

// Pairs cut anywhere, the first or the second, give a subset of their blocks.
func TestStraddleCut(t *testing.T) {
	a, b := straddling(100)
	files := map[string][]byte{"chunk-00000": a.file(), "chunk-00001": b.file()}
	whole, _ := readAllBlocks(t, mustOpen(t, dirOf(files)))
	written := knownOf(whole)
	for name, file := range files {
		cut := map[string][]byte{"chunk-00000": files["chunk-00000"], "chunk-00001": files["chunk-00001"]}
		for n := range file {
			cut[name] = file[:n]
			blocks, _ := readAllBlocks(t, mustOpen(t, dirOf(cut)))
			written.check(t, blocks)
		}
	}
}
