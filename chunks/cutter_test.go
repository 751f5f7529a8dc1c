package chunks

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/fstest"

	"gprof/rawformat"
)

// cutChunk has a block each millisecond.
func cutChunk(blocks int, sealed bool) (c *testChunk, monotonic uint64) {
	c = newTestChunk(1, 1, 64<<10)
	c.h.Flags = uint16(rawformat.ClockMonotonic) << 8
	const begin = 1000 // as sync blocks of test chunks say: each page begins anew
	for i := range blocks {
		now := uint64(begin + i*1e6)
		page := len(c.payload) / rawformat.PageSize
		if _, ok := c.firsts[page]; !ok {
			b := []byte{byte(rawformat.KindSync)}
			for _, v := range []uint64{c.h.RangeStart + uint64(len(c.payload)), c.h.Epoch, now, 7, 0} {
				b = rawformat.AppendUint(b, v)
			}
			c.put(b)
		}
		body := rawformat.AppendText(append(rawformat.AppendSint([]byte{byte(rawformat.KindLog)}, 1e6), 0), fmt.Sprint("number ", i))
		c.put(body)
	}
	if sealed {
		c.close()
	} else {
		c.seal(len(c.payload) / rawformat.PageSize)
	}
	return c, begin
}

// texts returns the blocks of a process, without sync blocks.
func texts(t *testing.T, p *Process) (all []string) {
	t.Helper()
	for r := p.Blocks(func(pr Problem) {
		if pr.Class != Unproven {
			t.Error(pr)
		}
	}); r.Next(); {
		if b := r.Block(); b.Kind != rawformat.KindSync {
			all = append(all, fmt.Sprintf("%d %x", b.Index, r.Run().Data))
		}
	}
	return all
}

// A chunk is cut before the blocks that are recent enough: hardly more than these are
// kept, none is changed, and nothing is a gap or damaged.
func TestCut(t *testing.T) {
	const blocks = 2000
	for _, sealed := range []bool{false, true} {
		one, begin := cutChunk(blocks, sealed)
		whole := one.file()
		meta := fstest.MapFS{"p/chunk-00000": {Data: whole}}
		all := texts(t, mustOpen(t, meta))
		for _, since := range []int{0, 1, blocks / 2, blocks - 10, 2 * blocks} {
			cutter, err := NewCutter(meta, "p", begin+uint64(since)*1e6+cutMargin, math.MaxUint64)
			must(t, err)
			parts := cutter.Cut(whole)
			files := fstest.MapFS{}
			for i, b := range parts {
				files[fmt.Sprintf("p/chunk-%05d", i)] = &fstest.MapFile{Data: b}
			}
			p := mustOpen(t, files)
			got := texts(t, p)
			if cutter.ended = true; since > blocks { // it has an exit record
				if only := cutter.Cut(whole); len(only) != 1 || len(only[0]) != rawformat.HeadSize {
					t.Errorf("sealed %v: %d parts, of what is older than asked for", sealed, len(only))
				}
			}
			if len(parts) == 1 != (since < 2) || since < 2 && !bytes.Equal(parts[0], whole) {
				t.Errorf("sealed %v, since %d: %d parts", sealed, since, len(parts))
			}
			if n := len(got); since >= 2 && (n > max(0, blocks-since)+300 || n < min(blocks-since, 1) || got[n-1] != all[blocks-1]) {
				t.Errorf("sealed %v, since %d: %d blocks are left", sealed, since, n)
			}
			at, young := 0, 0
			for _, text := range got {
				for at < len(all) && all[at] != text {
					at++
				}
				if at >= since {
					young++
				}
			}
			if at >= len(all) || young != max(0, blocks-max(since, 0)) && since < blocks {
				t.Errorf("sealed %v, since %d: %d young blocks of %d, or others than there were", sealed, since, young, len(got))
			}
			for _, pr := range p.Problems {
				if pr.Class != LeftOut && pr.Class != Missing {
					t.Error(pr)
				}
			}
			// The whole chunk of another copy takes the place of the parts.
			if joined := p.Join(mustOpen(t, meta)); joined != min(len(parts)-1, 1) || len(texts(t, p)) != blocks || len(p.LeftOut) > 0 {
				t.Errorf("since %d: joined %d chunks, %d are left out, %d blocks", since, joined, len(p.LeftOut), len(texts(t, p)))
			}
		}
	}
}

// A chunk is cut behind the blocks that are early enough as well: all of those are kept, and hardly
// more.
func TestCutEnd(t *testing.T) {
	const blocks = 2000
	for _, sealed := range []bool{false, true} {
		one, begin := cutChunk(blocks, sealed)
		whole := one.file()
		meta := fstest.MapFS{"p/chunk-00000": {Data: whole}}
		all := texts(t, mustOpen(t, meta))
		for _, span := range [][2]int{{0, 0}, {0, blocks / 2}, {blocks / 4, blocks / 2}, {blocks / 2, blocks/2 + 1}, {0, blocks}} {
			from, to := span[0], span[1]
			cutter, err := NewCutter(meta, "p", begin+uint64(from)*1e6+cutMargin, begin+uint64(to)*1e6-min(uint64(to)*1e6, cutMargin))
			must(t, err)
			files := fstest.MapFS{}
			for i, b := range cutter.Cut(whole) {
				files[fmt.Sprintf("p/chunk-%05d", i)] = &fstest.MapFile{Data: b}
			}
			p := mustOpen(t, files)
			got := texts(t, p)
			at := slices.Index(all, got[0])
			if at < 0 || at > from || at+len(got) < min(to, blocks) || !slices.Equal(got, all[at:at+len(got)]) {
				t.Fatalf("sealed %v, %d to %d: %d blocks from %d on, or others than there were", sealed, from, to, len(got), at)
			}
			if len(got) > to-from+300 {
				t.Errorf("sealed %v, %d to %d: %d blocks from %d on are left", sealed, from, to, len(got), at)
			}
			for _, pr := range p.Problems {
				if pr.Class != LeftOut && pr.Class != Missing {
					t.Error(pr)
				}
			}
			if p.Join(mustOpen(t, meta)); len(texts(t, p)) != blocks || len(p.LeftOut) > 0 {
				t.Errorf("%d to %d: joined, %d are left out, %d blocks", from, to, len(p.LeftOut), len(texts(t, p)))
			}
		}
	}
}

// Parts of a chunk file with any bytes are of its size at most.
func FuzzCut(f *testing.F) {
	for _, sealed := range []bool{false, true} {
		one, _ := cutChunk(500, sealed)
		f.Add(one.file(), uint64(1e8), uint64(3e8))
		f.Add(one.file(), uint64(0), uint64(0))
	}
	f.Fuzz(func(t *testing.T, file []byte, since, until uint64) {
		size := 0
		c := Cutter{since: since, until: until, rate: 1}
		for _, part := range c.Cut(file) {
			size += len(part) - int(rawformat.HeadSize) - rawformat.TrailerSize
		}
		if size > len(file) {
			t.Errorf("parts of %d bytes of %d", size, len(file))
		}
	})
}

// A block that repeats the last sample of its thread needs the page of that, of whatever kind it is.
func TestReferences(t *testing.T) {
	var r references
	for _, test := range []struct {
		line string
		want int // -1: its own page
	}{
		{"busy time=+1 thread=+5 goroutine=+1 stack=3", -1},
		{"busy-for time=+1 thread=+2 goroutine=+1 stack=3 excess=-1", -1},
		{"sample time=+1 thread=9 goroutine=1 track=0 stack=3 weight=1 cpu=1 window=0", -1},
		{"busy-for time=+1 thread=+1 goroutine=+0 stack=3 excess=+1", -1},
		{"same-sample time=+1 thread=7 goroutine=1 weight=1 cpu=0", 1},
		{"same-sample time=+1 thread=9 goroutine=1 weight=1 cpu=0", 2},
		{"same-sample time=+1 thread=5 goroutine=1 weight=1 cpu=0", 0},
		{"same-sample time=+1 thread=8 goroutine=1 weight=1 cpu=0", 3},
	} {
		body, err := rawformat.ParseBlock(nil, test.line)
		must(t, err)
		at := len(r.last)
		if test.want < 0 {
			test.want = at
		}
		if got := r.page(&Block{Kind: rawformat.Kind(body[0]), Fields: rawformat.NewCursor(body[1:], 0)}, at); got != test.want {
			t.Errorf("%s: page %d, want %d", test.line, got, test.want)
		}
	}
}

// Rest says whether a stack ring holds samples between the moments, whatever the chunks hold.
func TestCutRest(t *testing.T) {
	one, begin := cutChunk(10, false)
	taken := uint64(begin + 1000e6)
	files := dirOf(map[string][]byte{"chunk-00000": one.file(), "stacks-5": testRing(5, 0, 0, 0, stackRecord(taken, 2))})
	for _, test := range []struct {
		since, until uint64
		want         bool
	}{{0, taken - 1e9/2, false}, {0, taken, true}, {taken, math.MaxUint64, true}, {taken + 1e9, math.MaxUint64, false}, {0, math.MaxUint64, true}} {
		c, err := NewCutter(files, "p", test.since, test.until)
		must(t, err)
		if c.Rest() != test.want {
			t.Errorf("sample at %d, kept from %d to %d: %v", taken, test.since, test.until, c.Rest())
		}
	}
}
