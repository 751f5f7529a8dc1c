package chunks

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"gprof/rawformat"
)

// entryOf is an entry of n bytes; its block has n+1 as long as n < 128.
func entryOf(n int, fill byte) []byte { return bytes.Repeat([]byte{fill}, n) }

func testBuffer(m Manager) *Buffer {
	b := NewBuffer(BufferOptions{Instance: testInstance, Pid: testPid, Writer: 3, Generation: 1, Anchor: ticking()})
	b.Attach(m)
	return b
}

// stingy is a manager that has a number of chunks and no more.
func stingy(limit int64, chunk, have int) *LocalLimit {
	m := NewLocalLimit(limit, int64(chunk))
	m.allocate = func(n int) *Chunk {
		if have--; have < 0 {
			return nil
		}
		return NewChunk(n)
	}
	return m
}

func wantState(t *testing.T, what string, b *Buffer, want BufferState) {
	t.Helper()
	if got := b.State(); got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// collectEntries returns "index:length" of each entry.
func collectEntries(b *Buffer) (all []string) {
	b.Each(func(index uint64, entry []byte) bool {
		all = append(all, fmt.Sprintf("%d:%c%d", index, entry[0], len(entry)))
		return true
	})
	return all
}

func wantEntries(t *testing.T, what string, b *Buffer, want ...string) {
	t.Helper()
	if got := collectEntries(b); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// Out of session nothing is asked for and nothing taken.
func TestBufferOutOfSession(t *testing.T) {
	b := NewBuffer(BufferOptions{})
	called := false
	index := b.Reserve(func() int { t.Error("size is asked for"); return 1 }, func(head, tail []byte) {
		called = true
		if head != nil || tail != nil {
			t.Error("there is a place to write")
		}
	})
	if index != 0 || !called {
		t.Errorf("index %d, called %v", index, called)
	}
	b.Clear()
	wantState(t, "never attached", b, BufferState{RangeStart: 1, RangeEnd: 1})
	if b.Take() != nil || b.Earliest() != 0 || b.Current(1) {
		t.Error("there are chunks")
	}
	wantEntries(t, "nothing", b)
}

// Chunks of 20 bytes, 40 in all and no more: each block is put, drops one, or
// straddles as the rules say.
func TestBufferPut(t *testing.T) {
	m := stingy(1000, 20, 3)
	b := testBuffer(m)
	put := func(n int, fill byte, want uint64) {
		t.Helper()
		if got := b.Put(entryOf(n, fill)); got != want {
			t.Errorf("%c of %d bytes: index %d, want %d", fill, n, got, want)
		}
	}
	put(9, 'a', 1)
	wantState(t, "fits", b, BufferState{RangeStart: 1, RangeEnd: 11, Pushed: 1})
	put(19, 'b', 0)
	wantState(t, "larger than what is left, as large as a chunk", b, BufferState{RangeStart: 1, RangeEnd: 11, Pushed: 1, Failed: 20})
	put(18, 'c', 11)
	wantState(t, "straddles", b, BufferState{RangeStart: 1, RangeEnd: 30, Pushed: 2, Failed: 20})
	if !b.Current(21) || b.Current(20) || !b.Current(29) || b.Current(30) {
		t.Error("the second chunk is not the current one")
	}
	put(10, 'd', 30)
	wantState(t, "fills the chunk to its last byte", b, BufferState{RangeStart: 1, RangeEnd: 41, Pushed: 3, Failed: 20})
	m.Fulfill() // has one more
	put(19, 'e', 41)
	wantState(t, "as large as a chunk, in an empty one", b, BufferState{RangeStart: 1, RangeEnd: 61, Pushed: 4, Failed: 20})
	put(1, 'f', 0)
	wantState(t, "no chunk", b, BufferState{RangeStart: 1, RangeEnd: 61, Pushed: 4, Failed: 22})
	wantEntries(t, "all", b, "1:a9", "11:c18", "30:d10", "41:e19")
}

// A block that finds no next chunk is dropped and its chunk is left, with a
// hole at its end. Reading goes on behind the hole.
func TestBufferHole(t *testing.T) {
	m := NewLocalLimit(1000, 20)
	have := 1
	m.allocate = func(n int) *Chunk {
		if have--; have < 0 {
			return nil
		}
		return NewChunk(n)
	}
	b := testBuffer(m)
	m.Fulfill() // nothing
	b.Put(entryOf(14, 'a'))
	if got := b.Put(entryOf(7, 'b')); got != 0 {
		t.Errorf("index %d", got)
	}
	wantState(t, "hole", b, BufferState{RangeStart: 1, RangeEnd: 16, Pushed: 1, Failed: 8})
	have = 2
	if got := b.Put(entryOf(3, 'c')); got != 21 {
		t.Errorf("index %d, want that of the next chunk's begin", got)
	}
	wantState(t, "behind the hole", b, BufferState{RangeStart: 1, RangeEnd: 25, Pushed: 2, Failed: 8})
	wantEntries(t, "hole", b, "1:a14", "21:c3")
	m.DiscardUpTo(3) // when the first chunk was closed
	wantState(t, "discarded", b, BufferState{RangeStart: 21, RangeEnd: 25, Pushed: 2, Cleared: 1, Failed: 8})
}

// A chunk with a hole at its end that goes takes the hole along: nothing is left, and
// the range is empty.
func TestBufferHoleDiscarded(t *testing.T) {
	m := stingy(1000, 20, 1)
	b := testBuffer(m)
	b.Put(entryOf(14, 'a'))
	b.Put(entryOf(7, 'b'))
	m.DiscardUpTo(1 << 63)
	wantState(t, "discarded", b, BufferState{RangeStart: 21, RangeEnd: 21, Pushed: 1, Cleared: 1, Failed: 8})
}

// A discarded chunk raises the range start to its end and takes its blocks
// along, that which it shares with the next one too.
func TestBufferDiscards(t *testing.T) {
	b := testBuffer(NewLocalLimit(60, 20)) // two chunks at a time
	for i := range 4 {
		b.Put(entryOf(8, byte('a'+i)))
	}
	wantState(t, "two chunks", b, BufferState{RangeStart: 1, RangeEnd: 37, Pushed: 4})
	wantEntries(t, "two chunks", b, "1:a8", "10:b8", "19:c8", "28:d8")
	b.Put(entryOf(8, 'e'))
	wantState(t, "third chunk", b, BufferState{RangeStart: 21, RangeEnd: 46, Pushed: 5, Cleared: 3})
	wantEntries(t, "third chunk", b, "28:d8", "37:e8")
	if got := b.Earliest(); got != 2 {
		t.Errorf("earliest at %d, want when the second chunk was opened", got)
	}
}

func TestBufferClear(t *testing.T) {
	m := NewLocalLimit(1000, 20)
	b := testBuffer(m)
	for i := range 5 {
		b.Put(entryOf(9, byte('a'+i)))
	}
	b.Put(entryOf(30, 'x'))
	wantState(t, "before", b, BufferState{RangeStart: 1, RangeEnd: 51, Pushed: 5, Failed: 31})
	b.Clear()
	wantState(t, "cleared", b, BufferState{RangeStart: 61, RangeEnd: 61})
	wantEntries(t, "cleared", b)
	m.allocate = func(int) *Chunk { t.Error("a chunk is made, and two are to be used again"); return nil }
	for i, want := range []uint64{61, 71, 81, 91} {
		if got := b.Put(entryOf(9, byte('p'+i))); got != want {
			t.Errorf("index %d, want %d", got, want)
		}
	}
	wantEntries(t, "used again", b, "61:p9", "71:q9", "81:r9", "91:s9")
	if u := m.state(); u.Unreleased < 0 || u.Released != 40 {
		t.Errorf("%+v", u)
	}
	m.DiscardUpTo(1 << 63)
	wantState(t, "discarded", b, BufferState{RangeStart: 101, RangeEnd: 101, Pushed: 4, Cleared: 4})
	b.Clear()
	wantState(t, "cleared again", b, BufferState{RangeStart: 121, RangeEnd: 121})
}

// Take empties the buffer; indexes go on and the counters stay.
func TestBufferTake(t *testing.T) {
	m := NewLocalLimit(1000, 20)
	b := testBuffer(m)
	m.Fulfill()
	for i := range 3 {
		b.Put(entryOf(9, byte('a'+i)))
	}
	all := b.Take()
	if len(all) != 2 || all[0].RangeStart() != 1 || all[1].RangeStart() != 21 || all[1].State() != rawformat.StateDone {
		t.Errorf("%d chunks", len(all))
	}
	wantState(t, "taken", b, BufferState{RangeStart: 41, RangeEnd: 41, Pushed: 3})
	wantEntries(t, "taken", b)
	if got := b.Put(entryOf(9, 'd')); got != 41 {
		t.Errorf("index %d", got)
	}
	b.Put(entryOf(14, 'e')) // goes on in another chunk
	b.Clear()               // which is the current one again, and the first one waits
	all = b.Take()
	if len(all) != 2 || all[0].RangeStart() != 81 || all[0].State() != rawformat.StateDone || all[1].State() != rawformat.StateRecycled {
		t.Errorf("%d chunks of a buffer that was cleared", len(all))
	}
	if m.unreleased != 0 {
		t.Errorf("the manager counts %d bytes that it has no more", m.unreleased)
	}
	m = NewLocalLimit(1000, 20)
	b = testBuffer(m)
	b.Put(entryOf(9, 'f'))
	m.Fulfill() // delivered, and not collected yet
	if all = b.Take(); len(all) != 2 || all[0].State() != rawformat.StateDone || all[1].State() != rawformat.StateCreated {
		t.Errorf("%d chunks, one of which was delivered", len(all))
	}
	if again := b.Take(); len(again) != 0 {
		t.Errorf("%d chunks are handed out twice", len(again))
	}
}

// A session that ends leaves nothing but its indexes.
func TestBufferDetach(t *testing.T) {
	m := NewLocalLimit(1000, 20)
	b := testBuffer(m)
	b.Put(entryOf(9, 'a'))
	m.Fulfill()
	b.Attach(nil)
	wantState(t, "detached", b, BufferState{RangeStart: 11, RangeEnd: 11})
	if got := b.Put(entryOf(9, 'b')); got != 0 {
		t.Errorf("index %d out of session", got)
	}
	b.Attach(NewSingle(NewChunk(20)))
	if got := b.Put(entryOf(9, 'c')); got != 11 {
		t.Errorf("index %d in the next session", got)
	}
}

// The length of a block may straddle, too; and the order in which a block
// becomes visible is the next chunk's commit, then this one's.
func TestBufferStraddlesInLength(t *testing.T) {
	b := testBuffer(NewLocalLimit(1<<20, 400))
	b.Put(entryOf(397, 'a')) // its block has 399 bytes
	index := b.Reserve(func() int { return 300 }, func(head, tail []byte) {
		if len(head) != 0 || len(tail) != 300 {
			t.Errorf("place of %d and %d bytes", len(head), len(tail))
		}
		copy(tail, entryOf(300, 'b'))
		first, second := b.current.Header(), b.next[0].Header()
		if first.Commit.Offset() != 399 || second.Commit != 0 || second.FirstBlock != 301 {
			t.Errorf("while it is written: commit %x, next %+v", first.Commit, second)
		}
	})
	if index != 400 {
		t.Errorf("index %d", index)
	}
	wantEntries(t, "all", b, "1:a397", "400:b300")
	b.Peek(func(chunks []*Chunk) {
		if a, b := chunks[0].Header(), chunks[1].Header(); a.Commit != rawformat.MakeCommit(400, 2) || b.Commit != rawformat.MakeCommit(301, 0) {
			t.Errorf("commits %x and %x", a.Commit, b.Commit)
		}
	})
}

// The manager may answer a request whenever it likes; the answer comes before
// a chunk that is asked for on the spot.
func TestBufferRequest(t *testing.T) {
	m := NewLocalLimit(1000, 20)
	made := 0
	m.allocate = func(n int) *Chunk { made++; return NewChunk(n) }
	b := testBuffer(m)
	if made != 1 {
		t.Errorf("%d chunks at the begin", made)
	}
	m.Fulfill()
	m.Fulfill()
	if made != 2 {
		t.Errorf("%d chunks after the request", made)
	}
	b.Put(entryOf(14, 'a'))
	b.Put(entryOf(14, 'b')) // takes the answer
	if made != 2 {
		t.Errorf("%d chunks: the answer was not taken", made)
	}
	b.Put(entryOf(14, 'c'))
	if made != 3 {
		t.Errorf("%d chunks: one should have been made on the spot", made)
	}
	m.Fulfill()
	m.Fulfill()
	if made != 4 {
		t.Errorf("%d chunks: one was to be asked for since", made)
	}
	b.Put(entryOf(14, 'd'))
	if made != 4 {
		t.Errorf("%d chunks: the answer to the first of two requests was not taken", made)
	}
}

func TestBufferAppend(t *testing.T) {
	from := testBuffer(NewLocalLimit(1000, 20))
	for i := range 4 {
		from.Put(entryOf(9, byte('a'+i)))
	}
	b := testBuffer(stingy(1000, 25, 1))
	b.Put(entryOf(1, 'x'))
	if got := b.Append(from); got != 3 {
		t.Errorf("index %d, want that of the first", got)
	}
	wantEntries(t, "as many as fit", b, "1:x1", "3:a9", "13:b9")
	wantState(t, "stopped at the first failure", b, BufferState{RangeStart: 1, RangeEnd: 23, Pushed: 3, Failed: 10})
	if got := b.Append(NewBuffer(BufferOptions{})); got != 0 {
		t.Errorf("index %d of nothing", got)
	}
}

// The chunks of a buffer, as files, are what a reader of straddling chunks
// understands.
func TestBufferFiles(t *testing.T) {
	const capacity = 5000
	b := testBuffer(NewLocalLimit(1<<20, capacity))
	page, epoch := uint64(1<<63), uint64(0)
	var want []delivered
	put := func(body []byte) {
		index := b.Put(body)
		want = append(want, delivered{index: index, body: string(body)})
	}
	for i := range 100 {
		for { // a sync block where a page begins
			index := b.State().RangeEnd
			chunk := (index - 1) / capacity
			if p := chunk<<32 | (index-1)%capacity/rawformat.PageSize; p != page {
				page, epoch = p, chunk+1
				put(syncBody(index, epoch))
				continue
			}
			break
		}
		put(logBody(string(entryOf(1+i*31%400, 'x'))))
	}
	files := map[string][]byte{}
	for i, c := range b.Take() {
		file, err := c.File()
		if err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("chunk-%05d", i)] = file
	}
	blocks, problems := readAllBlocks(t, mustOpen(t, dirOf(files)))
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	if len(files) < 3 || len(blocks) != len(want) {
		t.Fatalf("%d files, %d blocks, want %d", len(files), len(blocks), len(want))
	}
	for i := range blocks {
		if blocks[i].index != want[i].index || blocks[i].body != want[i].body {
			t.Fatalf("block %d is %+v, want %+v", i, blocks[i], want[i])
		}
	}
	if _, err := NewChunk(rawformat.MaxChunkFile).File(); err == nil {
		t.Error("a chunk file over the limit")
	}
}

// Writers, discards and readers at once: what is read was put, in order.
func TestBufferConcurrent(t *testing.T) {
	m := NewLocalLimit(4000, 500)
	b := testBuffer(m)
	var work sync.WaitGroup
	for w := range 3 {
		work.Go(func() {
			for i := range 2000 {
				b.Put(entryOf(1+i%90, byte('a'+w)))
				if i%10 == 0 {
					m.Fulfill()
				}
			}
		})
	}
	work.Go(func() {
		for range 200 {
			var last uint64
			b.Each(func(index uint64, entry []byte) bool {
				if index <= last || bytes.Count(entry, entry[:1]) != len(entry) {
					t.Errorf("entry %q at %d behind %d", entry, index, last)
				}
				last = index
				return true
			})
			m.DiscardUpTo(b.Earliest())
		}
	})
	work.Wait()
	if s := b.State(); s.Pushed != 6000 || s.Failed != 0 || s.Cleared == 0 || s.RangeEnd-s.RangeStart > 4500 {
		t.Errorf("%+v", s)
	}
}

// While somebody reads, nobody writes and nothing is discarded.
func TestBufferReadersLock(t *testing.T) {
	m := NewLocalLimit(1000, 20)
	b := testBuffer(m)
	for range 3 { // in two chunks
		b.Put(entryOf(9, 'a'))
	}
	read := 0
	b.Each(func(uint64, []byte) bool {
		for _, l := range []*sync.Mutex{&b.mu, &m.mu} {
			if l.TryLock() {
				l.Unlock()
				t.Error("a writer, or who discards, could come")
			}
		}
		read++
		return true
	})
	if read != 3 {
		t.Errorf("%d entries", read)
	}
}

// A chunk that goes after a later one does not take the range start back.
func TestBufferDiscardsOutOfOrder(t *testing.T) {
	b := testBuffer(NewLocalLimit(1000, 20))
	for i := range 5 {
		b.Put(entryOf(9, byte('a'+i)))
	}
	var released []*Chunk
	b.manager.Peek(func(all []*Chunk) { released = all })
	b.discarded(released[1])
	b.discarded(released[0])
	wantState(t, "the second one first", b, BufferState{RangeStart: 41, RangeEnd: 51, Pushed: 5, Cleared: 4})
}
