package session_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/mapping"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// The page is removed, as an error of ours advises, or replaced by another file. All
// processes that used it go over to the one that has its name now, and none is forgotten.
func TestControlReplaced(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"copied": func(t *testing.T, path string) {
			page, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path+".copy", page, 0o600))
			must(t, os.Rename(path+".copy", path))
		},
		"older": func(t *testing.T, path string) {
			page := make([]byte, rawformat.ControlSize)
			rawformat.PutControl(page, 1)
			must(t, os.WriteFile(path+".copy", page, 0o600))
			must(t, os.Rename(path+".copy", path))
		},
	} {
		t.Run(name, func(t *testing.T) { testReplaced(t, replace) })
	}
}

func testReplaced(t *testing.T, replace func(*testing.T, string)) {
	const limit = 3 << 20
	root, h := t.TempDir(), newHandClock()
	a := startTestMember(t, root, session.Options{Limit: limit}, h.now)
	b := startTestMember(t, root, session.Options{}, h.now)
	dead := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 3, 30, dead)
	dead.die(t)
	if _, err := a.c.Command(rawformat.CommandPause); err != nil {
		t.Fatal(err)
	}
	ticks(t, h, 5, 30, a, b)
	for _, m := range []*member{a, b} {
		m.c.State()
	}
	replace(t, filepath.Join(root, chunks.ControlName))
	ticks(t, h, 5, 30, a, b)
	next := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 5, 30, next, a, b)
	s, err := session.Read(root)
	must(t, err)
	if s.Limit != limit || s.Command != rawformat.CommandPause || s.Generation != 1 || count(s, rawformat.SlotLive) != 3 || len(s.Slots) != 4 {
		t.Fatalf("%+v", s)
	}
	if _, err := openTestControl(t, root, session.Options{Existing: true}).Command(rawformat.CommandResume); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*member{a, b, next} {
		if what, generation := m.c.State(); what != rawformat.CommandResume || generation != 2 {
			t.Errorf("told %v, %d", what, generation)
		}
	}
	ticks(t, h, 40, 60, a, b, next)
	if sum := sessionBytes(root); sum > limit+3*2*testFile {
		t.Errorf("%d bytes", sum)
	}
	for _, m := range []*member{a, b, next} {
		must(t, m.stop())
		wantWhole(t, m.dir, 0)
	}
}

// Something at the page's name is not a page: all processes keep the one they have.
func TestControlReplacedByAnother(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	a := startTestMember(t, root, session.Options{Limit: 2 << 20}, h.now)
	b := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 2, 30, a, b)
	path := filepath.Join(root, chunks.ControlName)
	must(t, os.Remove(path))
	must(t, os.Mkdir(path, 0o700))
	for range 40 {
		must(t, a.write(60))
		for _, m := range []*member{a, b} {
			h.pass(session.ProbeEvery)
			m.tick() // says that it is a directory
		}
	}
	if sum := sessionBytes(root); sum > 2<<20+2*2*testFile {
		t.Errorf("%d bytes", sum)
	}
	must(t, os.Remove(path))
	ticks(t, h, 3, 30, a, b)
	if s, err := session.Read(root); err != nil || count(s, rawformat.SlotLive) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

// All slots are overwritten with garbage. A process that lost its slot gets one again, as
// the others turn out to belong to nobody.
func TestControlGarbage(t *testing.T) {
	for _, fill := range []byte{0xff, byte(rawformat.SlotLive)} {
		root, h := t.TempDir(), newHandClock()
		m := startTestMember(t, root, session.Options{Limit: 2 << 20}, h.now)
		ticks(t, h, 2, 30, m)
		garbage := bytes.Repeat([]byte{fill}, rawformat.MaxSlots*rawformat.SlotSize)
		for i := range rawformat.MaxSlots {
			slot := garbage[i*rawformat.SlotSize:]
			slot[0], slot[1] = byte(i), byte(i>>8)
			if fill == byte(rawformat.SlotLive) {
				clear(slot[rawformat.OffSlotOwner:][:8])
				slot[rawformat.OffSlotOwner+4] = fill
			}
		}
		f, err := os.OpenFile(filepath.Join(root, chunks.ControlName), os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt(garbage, rawformat.ControlHeadSize)
		must(t, err)
		must(t, f.Close())
		for range 2 {
			h.pass(session.ProbeEvery)
			must(t, m.write(30))
			m.tick() // says that no slot is free
		}
		if s := standing(t, root, m.id); s == nil || s.Held == 0 {
			t.Errorf("slot %+v", s)
		}
	}
}

// The page is cut short while it is in use: no call dies of it, and the next Balance
// restores its content.
func TestControlCut(t *testing.T) {
	root := t.TempDir()
	m := startTestMember(t, root, session.Options{Limit: 2 << 20}, realClock)
	if _, err := m.c.Command(rawformat.CommandPause); err != nil {
		t.Fatal(err)
	}
	m.c.State()
	if err := m.write(200); err != nil {
		t.Fatal(err)
	}
	must(t, m.tick())
	before := m.s.Snapshot()
	must(t, os.Truncate(filepath.Join(root, chunks.ControlName), 0))
	if _, err := m.c.Command(rawformat.CommandResume); !errors.Is(err, mapping.ErrCut) {
		t.Errorf("command: %v", err)
	}
	if what, generation := m.c.State(); m.c.Limit() != 2<<20 || what != rawformat.CommandPause || generation != 1 {
		t.Errorf("limit %d, %v, %d", m.c.Limit(), what, generation)
	}
	if err := m.w.Ring.Maintain(); !errors.Is(err, mapping.ErrCut) {
		t.Errorf("Maintain: %v", err)
	}
	must(t, m.write(100)) // what writers do is not concerned
	must(t, m.s.Balance(time.Now()))
	must(t, m.tick())
	s, err := session.Read(root)
	if err != nil || s.Limit != 2<<20 || s.Command != rawformat.CommandPause || s.Generation != 1 || len(s.Slots) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if now := s.Slots[0]; now.Instance != before.Instance || now.Held < before.Held || now.End < before.End || now.Pid != before.Pid || now.Keep != before.Keep {
		t.Errorf("%+v\nbefore %+v", now, before)
	}
}
