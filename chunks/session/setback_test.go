package session_test

import (
	"testing"
	"time"

	"gprof/chunks/session"
	"gprof/rawformat"
)

// The clock is set back while a process records. A process that joins then gets room, and
// the one before keeps its floor and its latest data.
func TestClockSetBack(t *testing.T) {
	const limit = 4 << 20
	root, h := t.TempDir(), newHandClock()
	a := startTestMember(t, root, session.Options{Limit: limit}, h.now)
	ticks(t, h, 40, 60, a)
	h.pass(-time.Hour)
	a.back = uint64(time.Hour)
	ticks(t, h, 20, 60, a)
	b := startTestMember(t, root, session.Options{}, h.now)
	least := int64(limit)
	for range 60 {
		ticks(t, h, 1, 60, b, a)
		least = min(least, sessionBytes(a.dir))
	}
	if floor := int64(limit / 4); least < floor-testFile {
		t.Errorf("%d bytes at least, want the floor of %d", least, floor)
	}
	if held := sessionBytes(b.dir); held < limit/3 {
		t.Errorf("the new process holds %d bytes", held)
	}
	must(t, a.stop())
	wantWhole(t, a.dir, a.n)
}

// Data of a process whose clock was ahead is removed before what is recorded now, and does
// not count as the newest crash.
func TestClockWasAhead(t *testing.T) {
	const limit = 3 << 20
	root, h := t.TempDir(), newHandClock()
	ahead := &handClock{}
	ahead.ns.Store(time.Now().Add(1000 * time.Hour).UnixNano())
	old := startTestMember(t, root, session.Options{Limit: limit}, ahead.now)
	ticks(t, ahead, 30, 60, old)
	old.die(t)
	crashed := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 30, 60, crashed)
	crashed.die(t)
	h.pass(2 * time.Hour)
	m := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 60, 60, m)
	if held := sessionBytes(m.dir); held < limit/3 {
		t.Errorf("the process that lives holds %d bytes", held)
	}
	if s := standing(t, root, crashed.id); s == nil || s.Kind != rawformat.SlotCrashed || s.Held < limit/4 {
		t.Errorf("of the newest crash is left: %+v", s)
	}
	if s := standing(t, root, old.id); s != nil && s.Held > limit/4 {
		t.Errorf("of the old one: %+v", s)
	}
}
