package rawformat

import (
	"encoding/binary"
	"errors"
	"testing"
)

// Each word of a slot is the field that the table in the package comment says.
func TestReadSlot(t *testing.T) {
	b := make([]byte, SlotSize)
	for off := 0; off < SlotSize; off += 8 {
		binary.LittleEndian.PutUint64(b[off:], uint64(off+1))
	}
	binary.LittleEndian.PutUint32(b[8:], 4711)
	binary.LittleEndian.PutUint32(b[12:], uint32(SlotCrashed))
	want := Slot{Instance: 1, Kind: SlotCrashed, Pid: 4711, Held: 17, Chunk: 25, Oldest: [3]int64{33, 41, 49}, Request: 57, Released: 65,
		Start: 73, End: 81, Discarded: 89, Obeyed: 97, Keep: 105, Ended: 113, Guarded: 121}
	if got := ReadSlot(b); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	binary.LittleEndian.PutUint32(b[12:], uint32(SlotChild))
	want.Kind, want.Parent, want.Mark, want.Obeyed, want.Guarded = SlotChild, 97, 121, 0, 0
	if got := ReadSlot(b); got != want {
		t.Errorf("of a child: %+v\nwant %+v", got, want)
	}
	for off := range b {
		b[off] = 0xff
	}
	if got := ReadSlot(b); got.Held != MaxLimit || got.Released != MaxLimit || got.Guarded != MaxLimit || got.Chunk != MaxChunkFile {
		t.Errorf("sizes are not bounded: %+v", got)
	}
}

func TestReadControl(t *testing.T) {
	page := func(change func(b []byte)) []byte {
		b := make([]byte, ControlHeadSize)
		PutControl(b, 99)
		for off, v := range map[int]uint64{OffControlLimit: 1 << 20, OffControlCommand: 7<<8 | uint64(CommandStop), OffControlSlots: 5, OffControlProbe: 1234} {
			binary.LittleEndian.PutUint64(b[off:], v)
		}
		change(b)
		return b
	}
	want := ControlHeader{Version: Version, Created: 99, Limit: 1 << 20, Command: CommandStop, Generation: 7, Slots: 5}
	if got, err := ReadControl(page(func([]byte) {})); err != nil || got != want {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	for name, c := range map[string]struct {
		page []byte
		want error
	}{
		"short":         {page(func([]byte) {})[:ControlHeadSize-1], ErrTruncated},
		"magic":         {page(func(b []byte) { b[0] = 'x' }), ErrMagic},
		"version":       {page(func(b []byte) { b[5] = 1 }), ErrVersion},
		"slots":         {page(func(b []byte) { b[9]++ }), ErrHeader},
		"creation":      {page(func(b []byte) { b[20]++ }), ErrHeader},
		"checksum":      {page(func(b []byte) { b[OffControlCRC]++ }), ErrHeader},
		"no limit":      {page(func(b []byte) { clear(b[OffControlLimit:][:8]) }), ErrTooBig},
		"a large limit": {page(func(b []byte) { b[OffControlLimit+7] = 0x80 }), ErrTooBig},
	} {
		got, err := ReadControl(c.page)
		var format *Error
		if !errors.Is(err, c.want) || !errors.As(err, &format) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if c.want == ErrTooBig && (got.Limit != 0 || got.Command != CommandStop) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if many, _ := ReadControl(page(func(b []byte) { b[OffControlSlots+7] = 1 })); many.Slots != MaxSlots {
		t.Errorf("%d slots", many.Slots)
	}
	for c, name := range Commands {
		if Command(c).String() != name {
			t.Errorf("command %d is %v", c, Command(c))
		}
	}
}
