package ring

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"gprof/chunks/mapping"
	"gprof/rawformat"
)

// entries of c's page table.
func sealsOf(c *Chunk) []rawformat.PageEntry {
	var all []rawformat.PageEntry
	for at := 0; at < len(c.table); at += entrySize {
		all = append(all, rawformat.PageEntry(atomic.LoadUint64(mapping.Word(c.table, at))))
	}
	return all
}

// checkSeals verifies every sealed page against the bytes, and where its
// first block begins against a walk over all blocks.
func checkSeals(t *testing.T, c *Chunk) (sealed int) {
	t.Helper()
	h := c.Header()
	if h.Epoch == 0 {
		return 0
	}
	offset := h.Commit.Offset()
	firsts := firstBlocks(c.payload[:offset], h.FirstBlock)
	for page, e := range sealsOf(c) {
		if !e.Sealed() {
			continue
		}
		sealed++
		begin := uint32(page * rawformat.PageSize)
		data := c.payload[begin:min(begin+rawformat.PageSize, offset)]
		if crc := rawformat.PageCRC(h.Instance, h.Epoch, data); e.CRC() != crc {
			t.Errorf("page %d of epoch %d: CRC %x, want %x", page, h.Epoch, e.CRC(), crc)
		}
		want, ok := firsts[page]
		if !ok {
			want = rawformat.PageSize
		}
		if e.First() != want {
			t.Errorf("page %d: first block at %d, want %d", page, e.First(), want)
		}
	}
	return sealed
}

func firstBlocks(data []byte, at uint32) map[int]uint32 {
	firsts := map[int]uint32{}
	for int(at) < len(data) {
		page := int(at / rawformat.PageSize)
		if _, ok := firsts[page]; !ok {
			firsts[page] = at % rawformat.PageSize
		}
		n, size, err := rawformat.ReadUint(data[at:])
		if err != nil {
			break
		}
		at += uint32(size) + uint32(n)
	}
	return firsts
}

// putBlocks appends blocks of these sizes, length included, and commits.
func putBlocks(c *Chunk, sizes ...int) {
	commit := c.Header().Commit
	at, n := commit.Offset(), commit.Blocks()
	for _, size := range sizes {
		body := size - 1
		for rawformat.UintSize(uint64(body))+body > size {
			body--
		}
		b := rawformat.AppendBlock(nil, bytes.Repeat([]byte{7}, body))
		at += uint32(copy(c.Payload()[at:], b))
		n++
	}
	atomic.StoreUint64(c.CommitWord(), uint64(rawformat.MakeCommit(at, n)))
}

// Full pages are sealed while the chunk is open, the rest when it is released, and nothing
// of an earlier use is left.
func TestSealProgress(t *testing.T) {
	r := mustRing(t, newMemory(2), testOptions(2))
	c := mustGet(t, r, 1)
	for _, step := range []struct {
		what   string
		size   int
		sealed int
	}{
		{"one byte short of a page", 4095, 0},
		{"a page and two bytes", 3, 1},
		{"a block over three pages", 3 * 4096, 4},
		{"up to a page's end", 4094, 5},
		{"nothing new", 0, 5},
		{"a byte", 2, 5},
	} {
		if step.size > 0 {
			putBlocks(c, step.size)
		}
		if err := r.Maintain(); err != nil {
			t.Fatal(err)
		}
		if n := checkSeals(t, c); n != step.sealed {
			t.Errorf("%s: %d pages sealed, want %d", step.what, n, step.sealed)
		}
	}
	if e := sealsOf(c); e[2].First() != rawformat.PageSize || e[4].First() != 2 || e[0].First() != 0 {
		t.Errorf("first blocks %d, %d, %d", e[2].First(), e[4].First(), e[0].First())
	}
	r.Release(c)
	if err := r.Maintain(); err != nil || checkSeals(t, c) != 6 {
		t.Errorf("released: %v; %d pages sealed, want 6", err, checkSeals(t, c))
	}
	mustGet(t, r, 1) // the spare one
	if d := mustGet(t, r, 1); d != c || checkSeals(t, d) != 0 {
		t.Errorf("used again: %d pages sealed", checkSeals(t, d))
	}
}

// The last page of a payload is short: it is full with its last byte.
func TestSealFullChunk(t *testing.T) {
	r := mustRing(t, newMemory(2), testOptions(2))
	c := mustGet(t, r, 1)
	putBlocks(c, 40000, testCapacity-40000)
	if err := r.Maintain(); err != nil || checkSeals(t, c) != rawformat.Pages(testCapacity) {
		t.Errorf("%v; %d pages sealed, want %d", err, checkSeals(t, c), rawformat.Pages(testCapacity))
	}
}

// A writer that left something other than blocks is reported once; the pages before it
// stay sealed.
func TestSealBadBlock(t *testing.T) {
	for what, bad := range map[string][]byte{"no length": {0}, "cut short": {0x90, 0x4e}, "endless": bytes.Repeat([]byte{0xff}, 12)} {
		r := mustRing(t, newMemory(2), testOptions(2))
		c := mustGet(t, r, 1)
		putBlocks(c, 4096, 200)
		copy(c.Payload()[4296:], bad)
		atomic.StoreUint64(c.CommitWord(), uint64(rawformat.MakeCommit(8192, 3)))
		err := r.Maintain()
		var e *rawformat.Error
		if !errors.As(err, &e) || e.Off != rawformat.HeadSize+4296 {
			t.Errorf("%s: error %v", what, err)
		}
		if err := r.Maintain(); err != nil || checkSeals(t, c) != 1 {
			t.Errorf("%s: again %v; %d pages sealed, want 1", what, err, checkSeals(t, c))
		}
	}
}

// A commit word past the payload, which no writer stores, is an error, and nothing is
// sealed by it. While the chunk is open, the next commit of its writer repairs it.
func TestSealBadCommit(t *testing.T) {
	r := mustRing(t, newMemory(2), testOptions(2))
	c := mustGet(t, r, 1)
	putBlocks(c, 4096)
	good := c.Header().Commit
	bad := uint64(rawformat.MakeCommit(testCapacity+1, 1))
	atomic.StoreUint64(c.CommitWord(), bad)
	if err := r.Maintain(); !errors.Is(err, rawformat.ErrTooBig) || checkSeals(t, c) != 0 {
		t.Errorf("open: %v; %d pages sealed, want 0", err, checkSeals(t, c))
	}
	atomic.StoreUint64(c.CommitWord(), uint64(good))
	if err := r.Maintain(); err != nil || checkSeals(t, c) != 1 {
		t.Errorf("mended: %v; %d pages sealed, want 1", err, checkSeals(t, c))
	}
	atomic.StoreUint64(c.CommitWord(), bad)
	r.Release(c)
	if err := r.Maintain(); !errors.Is(err, rawformat.ErrTooBig) {
		t.Errorf("released: %v", err)
	}
	if err := r.Maintain(); err != nil {
		t.Errorf("released, once more: %v", err)
	}
}

// FuzzSeal: whatever a writer commits, sealing comes to an end and its entries are true.
func FuzzSeal(f *testing.F) {
	f.Add([]byte("\x03abc\x01a"), uint32(6), false)
	f.Add(append(rawformat.AppendUint(nil, 5000), bytes.Repeat([]byte{1}, 6000)...), uint32(5900), true)
	f.Fuzz(func(t *testing.T, data []byte, offset uint32, straddle bool) {
		c := fileChunk(make([]byte, testFile))
		c.fixed.Epoch, c.fixed.RangeStart = 3, 1
		if straddle {
			c.fixed.Flags = rawformat.FlagStraddle
		}
		c.open()
		for at := 0; at < len(c.payload) && len(data) > 0; {
			at += copy(c.payload[at:], data)
		}
		offset %= testCapacity + 2
		atomic.StoreUint64(c.CommitWord(), uint64(rawformat.MakeCommit(offset, 0)))
		if c.seal(false) == nil {
			checkSeals(t, c)
			if err := c.seal(true); err == nil && checkSeals(t, c) != rawformat.Pages(offset) {
				t.Errorf("%d pages sealed of %d bytes", checkSeals(t, c), offset)
			}
		}
	})
}

// Whoever looks at the file meanwhile, or after a kill, sees all of the CRC that a chunk is closed with, or nothing of it.
func TestCloseIsStoredAtOnce(t *testing.T) {
	c := NewChunk(rawformat.PageSize)
	h := c.fixed
	crc := (*uint32)(unsafe.Pointer(&c.head[rawformat.OffCloseCRC]))
	known := map[uint32]bool{}
	for i := range int64(4) {
		h.Close = rawformat.Anchor{Monotonic: uint64(i) + 1}
		c.storeClose(&h)
		known[atomic.LoadUint32(crc)] = true
	}
	var closed atomic.Int64
	var writer sync.WaitGroup
	writer.Go(func() {
		for closed.Add(1) < 10_000 {
			h.Close.Monotonic = uint64(closed.Load()%4) + 1
			c.storeClose(&h)
		}
	})
	for closed.Load() < 10_000 {
		if got := atomic.LoadUint32(crc); !known[got] {
			t.Errorf("a part of a CRC: %x", got)
			break
		}
	}
	writer.Wait()
}
