package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// beget runs a child of a member, which writes so many ticks of 20 KB and ends cleanly.
func beget(t testing.TB, h *handClock, root string, parent *member, n int) *member {
	t.Helper()
	child := startTestMember(t, root, session.Options{}, h.now)
	child.parent = parent
	ticks(t, h, n, 20, child, parent)
	must(t, child.stop())
	h.pass(time.Second)
	return child
}

// wantMadeWay checks that nothing is left of a process but a tomb, which says why.
func wantMadeWay(t testing.TB, dir, why string) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil || !session.IsTomb(dir) || p.Value(rawformat.MetaMadeWay) != why {
		t.Errorf("%s: %v, a tomb %v, because %q, want %q", dir, err, session.IsTomb(dir), p.Value(rawformat.MetaMadeWay), why)
	}
}

// A child that ended cleanly keeps its floor beside a busy process until its parent holds
// nothing from that time. Then it goes as a whole, and its tomb says why.
func TestChildKeepsItsFloor(t *testing.T) {
	const limit = 4 << 20
	root, h := t.TempDir(), newHandClock()
	parent := startTestMember(t, root, session.Options{Limit: limit}, h.now)
	ticks(t, h, 3, 20, parent)
	child := beget(t, h, root, parent, 60)
	if s := standing(t, root, child.id); s.Kind != rawformat.SlotChild || s.Parent != parent.id || s.Mark != parent.w.Ring.RangeEnd() {
		t.Errorf("after its end: %+v", s)
	}
	if s := standing(t, root, beget(t, h, root, parent, 0).id); s != nil && s.Kind != rawformat.SlotClean {
		t.Errorf("of a child that recorded nothing: %+v", s)
	}
	busy := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 100, 100, busy, parent)
	wantWhole(t, child.dir, child.n)
	floor := int64(limit / 2 / 3)
	if left := sessionBytes(child.dir); left < floor-2*testFile || left > floor {
		t.Errorf("%d bytes are left, want its floor %d", left, floor)
	}
	mark := standing(t, root, child.id).Mark
	for n := 0; standing(t, root, parent.id).Start <= mark; n++ {
		if n == 400 {
			t.Fatal("the parent holds its range for ever")
		}
		if s := standing(t, root, child.id); s == nil {
			t.Fatalf("the child is gone while the parent holds what is from %d on, and the child ended at %d", standing(t, root, parent.id).Start, mark)
		}
		ticks(t, h, 1, 100, parent, busy)
	}
	ticks(t, h, 40, 100, parent, busy)
	wantMadeWay(t, child.dir, rawformat.MadeWayExpired)
}

// A parent that was killed keeps its children, and theirs, as long as its crash is
// protected; one that ended in order does not.
func TestChildOfTheDead(t *testing.T) {
	const limit = 8 << 20
	for _, killed := range []bool{true, false} {
		root, h := t.TempDir(), newHandClock()
		parent := startTestMember(t, root, session.Options{Limit: limit}, h.now)
		ticks(t, h, 3, 20, parent)
		child := startTestMember(t, root, session.Options{}, h.now)
		child.parent = parent
		ticks(t, h, 10, 20, child, parent)
		grandchild := beget(t, h, root, child, 10)
		must(t, child.stop())
		if killed {
			parent.die(t)
		} else {
			must(t, parent.stop())
		}
		busy := startTestMember(t, root, session.Options{}, h.now)
		ticks(t, h, 100, 200, busy)
		for _, m := range []*member{child, grandchild} {
			if killed {
				wantWhole(t, m.dir, m.n)
			} else {
				wantMadeWay(t, m.dir, rawformat.MadeWayOrphan)
			}
		}
	}
}

// Of 200 short children the newest keep a floor, and their parent and a busy process have
// room as before.
func TestChildStorm(t *testing.T) {
	const limit = 4 << 20
	root, h := t.TempDir(), newHandClock()
	parent := startTestMember(t, root, session.Options{Limit: limit}, h.now)
	ticks(t, h, 3, 20, parent)
	var all []*member
	for range 200 {
		all = append(all, beget(t, h, root, parent, 1))
		if sum := sessionBytes(root); sum > limit+4*testFile {
			t.Fatalf("%d bytes", sum)
		}
	}
	busy := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 100, 100, busy, parent)
	left := 0
	for i, m := range all {
		if standing(t, root, m.id) != nil {
			left++
		} else if left > 0 {
			t.Errorf("child %d is gone, and an earlier one is not", i)
		}
	}
	floor := limit / 2 / 4
	if want := 2 * floor / (2 * testFile); left != want {
		t.Errorf("%d children are left, want %d", left, want)
	}
	if s := standing(t, root, busy.id); s.Held < limit/2 {
		t.Errorf("the busy process holds %d", s.Held)
	}
	wantWhole(t, parent.dir, parent.n)
}
