package chunks

import (
	"bytes"
	"errors"
	"testing"

	"gprof/rawformat"
)

func nestedOf(t *testing.T, b *Buffer) []byte {
	t.Helper()
	data, err := b.AppendNested([]byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	return data[len("before"):]
}

// Blocks keep their indexes, and the counters what they say.
func TestNested(t *testing.T) {
	b := testBuffer(NewLocalLimit(60, 20))
	for i := range 5 {
		b.Put(entryOf(8, byte('a'+i)))
	}
	b.Put(entryOf(8, 'f')) // at 46; the chunk before, from 21 on, holds d and e and is still there
	if _, err := b.AppendNested(nil); !errors.Is(err, ErrSpread) {
		t.Errorf("of two chunks: %v", err)
	}
	single := testBuffer(NewSingle(NewChunk(40)))
	single.Put(entryOf(8, 'a'))
	single.Put(entryOf(3, 'b'))
	data := nestedOf(t, single)
	if want := 1 + 8 + 13 + 16; len(data) != want {
		t.Errorf("%d bytes, want %d", len(data), want)
	}
	got, rest, err := ReadNested(append(data, "behind"...))
	if err != nil || string(rest) != "behind" {
		t.Fatalf("rest %q, %v", rest, err)
	}
	wantEntries(t, "read", got, "1:a8", "10:b3")
	wantState(t, "read", got, BufferState{RangeStart: 1, RangeEnd: 14, Pushed: 2})
	if got.Put(entryOf(1, 'x')) != 0 || got.State().Failed != 2 {
		t.Error("the chunk is not full")
	}
	if again := nestedOf(t, got); !bytes.Equal(again, data) {
		t.Errorf("nested again: %x, want %x", again, data)
	}
}

// A buffer whose first chunks are gone begins behind the tail of the last one.
func TestNestedLate(t *testing.T) {
	m := NewLocalLimit(60, 20)
	b := testBuffer(m)
	for i := range 3 {
		b.Put(entryOf(8, byte('a'+i)))
	}
	m.DiscardUpTo(100)
	b.Put(entryOf(3, 'd'))
	got, _, err := ReadNested(nestedOf(t, b))
	if err != nil {
		t.Fatal(err)
	}
	wantEntries(t, "behind the tail", got, "28:d3")
	wantState(t, "behind the tail", got, BufferState{RangeStart: 28, RangeEnd: 32, Pushed: 4, Cleared: 3})
}

func TestNestedNothing(t *testing.T) {
	for name, b := range map[string]*Buffer{"out of session": NewBuffer(BufferOptions{}), "empty": testBuffer(NewSingle(NewChunk(9)))} {
		data := nestedOf(t, b)
		got, rest, err := ReadNested(data)
		if !bytes.Equal(data, []byte{0}) || err != nil || len(rest) != 0 {
			t.Fatalf("%s: %x, rest %x, %v", name, data, rest, err)
		}
		wantEntries(t, name, got)
	}
}

func TestNestedDamaged(t *testing.T) {
	b := testBuffer(NewSingle(NewChunk(40)))
	b.Put(entryOf(8, 'a'))
	b.Put(entryOf(3, 'b'))
	whole := nestedOf(t, b)
	for n := range len(whole) {
		if _, _, err := ReadNested(whole[:n]); !errors.Is(err, rawformat.ErrTruncated) {
			t.Errorf("cut to %d: %v", n, err)
		}
	}
	for at, want := range map[int]error{ // a byte that becomes 0xff
		0:  rawformat.ErrTruncated, // the length, which goes on
		9:  rawformat.ErrTruncated, // a block's
		22: rawformat.ErrHeader,    // how many were pushed
	} {
		data := bytes.Clone(whole)
		data[at] = 0xff
		if _, _, err := ReadNested(data); !errors.Is(err, want) {
			t.Errorf("byte %d: %v, want %v", at, err, want)
		}
	}
	data := bytes.Clone(whole)
	copy(data[1:9], make([]byte, 8))
	if _, _, err := ReadNested(data); !errors.Is(err, rawformat.ErrHeader) {
		t.Errorf("index 0: %v", err)
	}
}

// FuzzNested: what is read is written as it was.
func FuzzNested(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{2, 7, 0, 0, 0, 0, 0, 0, 0, 1, 'a', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, rest, err := ReadNested(data)
		if err != nil {
			return
		}
		var blocks uint64
		b.Each(func(uint64, []byte) bool { blocks++; return true })
		if s := b.State(); blocks != s.Pushed-s.Cleared {
			t.Errorf("%d blocks, %+v", blocks, s)
		}
		again, err := b.AppendNested(nil)
		_, size, _ := rawformat.ReadUint(data)
		if read := data[:len(data)-len(rest)]; err != nil || !bytes.Equal(again[len(again)-len(read)+size:], read[size:]) {
			t.Errorf("%x became %x, %v", read, again, err)
		}
	})
}

// Read from an index: what is discarded leads to the first block that is left.
func TestBufferEachFrom(t *testing.T) {
	b := testBuffer(NewLocalLimit(60, 20))
	for i := range 5 {
		b.Put(entryOf(8, byte('a'+i))) // the last one discards the first chunk: blocks at 28 and 37 are left
	}
	for from, want := range map[uint64]uint64{0: 28, 1: 28, 21: 28, 27: 28, 28: 28, 29: 37, 37: 37, 38: 0, 41: 0, 46: 0, 1 << 63: 0, 1<<64 - 1: 0} {
		var first uint64
		b.EachFrom(from, func(index uint64, entry []byte) bool {
			first = index
			return false
		})
		if first != want {
			t.Errorf("from %d on the first block is %d, want %d", from, first, want)
		}
	}
	straddles := testBuffer(NewLocalLimit(100, 20))
	straddles.Put(entryOf(14, 'a'))
	straddles.Put(entryOf(9, 'b')) // at 16, goes on in the next chunk
	straddles.Put(entryOf(3, 'c'))
	for from, want := range map[uint64]uint64{16: 16, 17: 26, 21: 26, 26: 26} {
		var first uint64
		straddles.EachFrom(from, func(index uint64, entry []byte) bool {
			first = index
			return false
		})
		if first != want {
			t.Errorf("from %d on the first block is %d, want %d", from, first, want)
		}
	}
}
