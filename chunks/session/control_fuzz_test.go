package session

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
)

// hostilePage is a control page in which every word of a slot has the same value.
func hostilePage(words ...uint64) []byte {
	b := make([]byte, rawformat.ControlHeadSize+len(words)*rawformat.SlotSize)
	rawformat.PutControl(b, 1)
	binary.LittleEndian.PutUint64(b[rawformat.OffControlLimit:], 1<<20)
	binary.LittleEndian.PutUint64(b[rawformat.OffControlSlots:], uint64(len(words)))
	for i, w := range words {
		for off := 0; off < rawformat.SlotSize; off += 8 {
			binary.LittleEndian.PutUint64(b[slotAt(i)+off:], w)
		}
	}
	return b
}

// With any bytes in a control page, a tool reads it or says why not, a process joins or
// says why not, sums are plausible, and choosing comes to an end.
func FuzzControl(f *testing.F) {
	f.Add([]byte{})
	f.Add(hostilePage())
	f.Add(hostilePage(0, 1, 1<<63, 1<<64-1, 7<<32|7))
	f.Add(hostilePage(1<<32|1, 2<<32|1, 3<<32|1, 3<<32|1))
	f.Add(hostilePage(1<<50, 1<<50, 1<<50)[:rawformat.ControlHeadSize+200])
	f.Fuzz(func(t *testing.T, page []byte) {
		s, err := parseSession(page)
		var format *rawformat.Error
		if err != nil && !errors.As(err, &format) {
			t.Fatalf("error %v", err)
		}
		if err == nil {
			checkHostile(t, s)
		}
		joinHostile(t, page)
	})
}

func checkHostile(t *testing.T, s *Status) {
	if sum := s.Sum(); sum < 0 || s.Limit < 0 || s.Limit > rawformat.MaxLimit {
		t.Fatalf("sum %d, limit %d", sum, s.Limit)
	}
	var b budget
	b.reset(s.Limit)
	for i := range s.Slots {
		b.add(slotAt(i), s.Slots[i].Slot)
	}
	b.protect()
	b.choose(1<<20, slotAt(0))
	for _, a := range b.accounts {
		if a.guard < 0 || a.Held < 0 {
			t.Fatalf("%+v", a)
		}
	}
}

func joinHostile(t *testing.T, page []byte) {
	session := t.TempDir()
	must(t, os.WriteFile(filepath.Join(session, chunks.ControlName), page[:min(len(page), rawformat.ControlSize)], 0o600))
	c, err := Open(session, Options{})
	if err != nil {
		return
	}
	defer c.Close()
	const id = 0xabcdef
	lock := lockInstance(t, session, id)
	defer lock.Close()
	s, err := c.Join(Member{Instance: id})
	if err != nil {
		t.Fatalf("join: %v", err)
	}
	for range 3 {
		s.Grow(testFile)
		if err := s.Balance(time.Now()); err != nil {
			t.Fatalf("balance: %v", err)
		}
	}
	must(t, s.Leave())
}
