package session_test

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// Writers and housekeepers of several processes work at once, while the limit is raised
// and lowered and tools read the page: the recordings are whole, and within the limit.
func TestSessionConcurrent(t *testing.T) {
	const limit, rounds = 2 << 20, 40
	root := t.TempDir()
	var members []*member
	for range 3 {
		members = append(members, startTestMember(t, root, session.Options{Limit: limit}, realClock))
	}
	var work, keep sync.WaitGroup
	var stop atomic.Bool
	for i, m := range members {
		keep.Go(func() {
			for !stop.Load() {
				if err := m.tick(); err != nil {
					t.Error(err)
				}
			}
		})
		work.Go(func() {
			for range rounds {
				if err := m.write(20 + 30*i); err != nil {
					time.Sleep(time.Millisecond) // every chunk is in use, or the housekeeper has the list
				}
			}
		})
	}
	looker := openTestControl(t, root, session.Options{Existing: true})
	keep.Go(func() {
		for i := 0; !stop.Load(); i++ {
			if err := looker.SetLimit(limit >> (i % 2)); err != nil {
				t.Error(err)
			}
			looker.Command(rawformat.Command(i % 4))
			if _, err := looker.Slots(); err != nil {
				t.Error(err)
			}
			session.IndexNow(root, members[0].id)
			members[1].c.State()
		}
	})
	work.Wait()
	stop.Store(true)
	keep.Wait()
	must(t, looker.SetLimit(limit/2))
	for deadline := time.Now().Add(time.Minute); sessionBytes(root) > limit/2+3*2*testFile; {
		for _, m := range members {
			must(t, m.tick()) // who survey each other only now and then
		}
		if time.Now().After(deadline) {
			slots, err := looker.Slots()
			t.Fatalf("%d bytes: %+v, %v", sessionBytes(root), slots, err)
		}
	}
	for _, m := range members {
		must(t, m.stop())
		wantNewest(t, m)
	}
}

// wantNewest checks that the last blocks of a member are there that writes beside its
// housekeeper. A chunk that was being sealed when it was to be discarded is left over,
// with a hole after it.
func wantNewest(t *testing.T, m *member) {
	t.Helper()
	got := numbersIn(t, m.dir)
	if len(got) == 0 || got[len(got)-1] != m.n-1 || !slices.IsSorted(got) {
		t.Errorf("%s: %d blocks, want those up to %d", m.dir, len(got), m.n-1)
	}
	run := 0 // blocks without a hole
	for i := range got {
		if run++; i > 0 && got[i] != got[i-1]+1 {
			if run > testFile/1000+1 {
				t.Errorf("%s: block %d follows %d, and %d before that", m.dir, got[i], got[i-1], run)
			}
			run = 1
		}
	}
}

// A parent says how its child ended while others look after what it left.
func TestExitConcurrent(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	other := startTestMember(t, root, session.Options{Limit: 8 << 20}, h.now)
	for _, end := range []struct {
		session.End
		kind rawformat.SlotKind
	}{{session.End{Signal: 9}, rawformat.SlotCrashed}, {session.End{Code: 2}, rawformat.SlotCrashed}, {session.End{}, rawformat.SlotClean}} {
		end.Pid = uint32(os.Getpid())
		m := startTestMember(t, root, session.Options{}, h.now)
		ticks(t, h, 2, 30, m)
		m.die(t)
		var work sync.WaitGroup
		for range 3 {
			work.Go(func() {
				if err := session.WriteExit(m.dir, end.End); err != nil {
					t.Error(err)
				}
			})
		}
		ticks(t, h, 5, 10, other)
		work.Wait()
		x := exitIn(t, m.dir)
		if s := standing(t, root, m.id); signalOf(x) != end.Signal || s.Kind != end.kind || s.Ended == 0 {
			t.Errorf("%+v: exit %+v, slot %+v", end, x, s)
		}
		wantWhole(t, m.dir, m.n)
	}
}

// signalOf is the signal that killed the process; 0: none.
func signalOf(x *chunks.Exit) int {
	if x.Reason == rawformat.ExitSignal {
		return int(x.Code)
	}
	return 0
}
