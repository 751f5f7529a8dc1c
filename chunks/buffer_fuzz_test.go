package chunks

import (
	"bytes"
	"testing"

	"gprof/rawformat"
)

// FuzzBuffer: whatever is put, dropped, cleared and discarded, what is read is
// what was put and not yet gone, and the counters are those of a plain model.
func FuzzBuffer(f *testing.F) {
	f.Add([]byte{5, 9, 30, 80, 200, 3, 255, 17, 18, 19, 254, 40, 41, 253, 7}, uint8(20), uint8(3))
	f.Add(bytes.Repeat([]byte{13, 37, 101}, 30), uint8(120), uint8(9))
	f.Fuzz(func(t *testing.T, ops []byte, size, have uint8) {
		chunk := int(size)%200 + 2
		m := stingy(int64(6*chunk), chunk, int(have))
		b := testBuffer(m)
		model := map[uint64]string{}
		var pushed, failed, last uint64
		for i, op := range ops {
			switch op {
			case 255:
				b.Clear()
				pushed, failed = 0, 0
			case 254:
				m.Fulfill()
			case 253:
				m.DiscardUpTo(uint64(i))
			default:
				entry := string(entryOf(int(op)+1, byte(i)))
				if index := b.Put([]byte(entry)); index != 0 {
					if index <= last {
						t.Fatalf("index %d behind %d", index, last)
					}
					model[index], last = entry, index
					pushed++
				} else {
					failed += uint64(len(rawformat.AppendBlock(nil, []byte(entry))))
				}
			}
			compareBuffer(t, b, model, pushed, failed)
		}
	})
}

func compareBuffer(t *testing.T, b *Buffer, model map[uint64]string, pushed, failed uint64) {
	t.Helper()
	s := b.State()
	if s.Pushed != pushed || s.Failed != failed || s.Cleared > s.Pushed || s.RangeStart > s.RangeEnd {
		t.Fatalf("%+v; %d pushed, %d failed", s, pushed, failed)
	}
	live := uint64(0)
	b.Each(func(index uint64, entry []byte) bool {
		if index < s.RangeStart || index+uint64(len(entry)) >= s.RangeEnd || model[index] != string(entry) {
			t.Fatalf("entry %x at %d, want %x; %+v", entry, index, model[index], s)
		}
		live++
		return true
	})
	if live != s.Pushed-s.Cleared {
		t.Fatalf("%d blocks are read, %+v", live, s)
	}
}
