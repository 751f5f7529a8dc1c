package session_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// handClock is a clock that a test sets.
type handClock struct{ ns atomic.Int64 }

func newHandClock() *handClock {
	h := &handClock{}
	h.ns.Store(1_700_000_000e9)
	return h
}

// now advances by a microsecond each time it is read, so that no two things happen at
// once.
func (h *handClock) now() int64 { return h.ns.Add(1000) }

func (h *handClock) pass(d time.Duration) { h.ns.Add(int64(d)) }

// die ends a member as kill -9 does.
func (m *member) die(t testing.TB) {
	t.Helper()
	must(t, m.lock.Close())
}

// ticks lets some time pass for the members, with blocks that the first writes.
func ticks(t testing.TB, h *handClock, n, blocks int, members ...*member) {
	t.Helper()
	for range n {
		h.pass(100 * time.Millisecond)
		must(t, members[0].write(blocks))
		for _, m := range members {
			must(t, m.tick())
		}
	}
}

func standing(t testing.TB, root string, instance uint64) *session.Standing {
	t.Helper()
	s, err := session.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Slots {
		if s.Slots[i].Instance == instance {
			return &s.Slots[i]
		}
	}
	return nil
}

func exitIn(t testing.TB, dir string) *chunks.Exit {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	return p.Exit
}

// Ten crashes in a session of 4 MB, each after more than that was written. The limit is
// kept, the first and the newest crash can be read, and those between made room.
func TestCrashLoop(t *testing.T) {
	const limit = 4 << 20
	root, h := t.TempDir(), newHandClock()
	var dirs []string
	for i := range 10 {
		m := startTestMember(t, root, session.Options{Limit: limit >> i}, h.now)
		if m.c.Limit() != limit {
			t.Fatalf("limit %d at start %d", m.c.Limit(), i)
		}
		ticks(t, h, 60, 100, m)
		if sum := sessionBytes(root); sum > limit+2*testFile {
			t.Errorf("start %d: %d bytes", i, sum)
		}
		m.die(t)
		dirs = append(dirs, m.dir)
		h.pass(20 * time.Second)
	}
	last := startTestMember(t, root, session.Options{Limit: 1}, h.now)
	ticks(t, h, 60, 100, last)
	sum := int64(0)
	for i, dir := range dirs {
		if kept := i == 0 || i == 9; !kept {
			wantTomb(t, dir)
		} else {
			wantWhole(t, dir, 0)
			sum += sessionBytes(dir)
		}
	}
	if sum < limit*4/10 || sum > limit/2+2*testFile {
		t.Errorf("%d bytes are left of two crashes, want about half of %d", sum, limit)
	}
	if x := exitIn(t, dirs[9]); x == nil || x.Reason != rawformat.ExitUnknown {
		t.Errorf("exit record of the newest: %+v", x)
	}
}

// A chunk that was written between the last tick and the end of a process has no done time
// yet. It counts as done when its writer opened the next chunk, and the guard includes
// chunks with the same time.
func TestCrashUnsealed(t *testing.T) {
	const limit = 4 << 20
	for name, still := range map[string]bool{"clock goes on": false, "clock stands still": true} {
		root, h := t.TempDir(), newHandClock()
		now := h.now
		if still {
			now = h.ns.Load
		}
		m, err := newMemberOn(root, session.Options{Limit: limit}, time.Minute, now, 62, func(dir string) folder.Folder { return folder.Dir(dir) })
		must(t, err)
		must(t, m.write(60*60)) // there is room for all
		m.die(t)
		h.pass(time.Second)
		r, err := session.OpenRemains(m.dir)
		must(t, err)
		all := r.Done()
		if times, want := len(slices.Compact(slices.Clone(all))), map[bool]int{false: len(all) - 1, true: 1}[still]; times < want {
			t.Errorf("%s: %d done times of %d chunks", name, times, len(all))
		}
		next := startTestMember(t, root, session.Options{}, h.now)
		ticks(t, h, 60, 80, next)
		wantWhole(t, m.dir, m.n)
		if left := sessionBytes(m.dir); left < limit/2-testFile || left > limit/2+2*testFile {
			t.Errorf("%s: %d bytes are left, want half of %d", name, left, limit)
		}
	}
}

// A process that dies before its first tick leaves no more behind each time.
func TestCrashAtOnce(t *testing.T) {
	const limit = 1 << 20
	root, h := t.TempDir(), newHandClock()
	for range 40 {
		m := startTestMember(t, root, session.Options{Limit: limit}, h.now)
		must(t, m.write(10))
		m.die(t)
		h.pass(time.Second)
		if sum := sessionBytes(root); sum > limit+2*testFile {
			t.Fatalf("%d bytes", sum)
		}
	}
}

// Data that a crashed process recorded in its last Keep outlives a busy successor, as far
// as half the limit suffices; older data does not.
func TestCrashKeep(t *testing.T) {
	const limit = 4 << 20
	for name, c := range map[string]struct {
		before, within int // ticks with 20 KB
		from, to       int // what is left, in bytes
	}{
		"all within":    {before: 0, within: 60, from: 60 * 20 << 10, to: 60*20<<10 + 3*testFile},
		"half before":   {before: 80, within: 60, from: 60 * 20 << 10, to: 60*20<<10 + 4*testFile},
		"most before":   {before: 80, within: 5, from: limit / 4, to: limit/4 + 2*testFile}, // its floor
		"more than fit": {before: 0, within: 180, from: limit/2 - testFile, to: limit/2 + 2*testFile},
	} {
		root, h := t.TempDir(), newHandClock()
		m := startTestMember(t, root, session.Options{Limit: limit}, h.now)
		ticks(t, h, c.before, 20, m)
		h.pass(time.Minute)
		for range c.within {
			ticks(t, h, 1, 20, m)
			h.pass(-100 * time.Millisecond)
		}
		m.die(t)
		h.pass(time.Hour)
		next := startTestMember(t, root, session.Options{}, h.now)
		ticks(t, h, 100, 80, next)
		wantWhole(t, m.dir, m.n)
		if left := sessionBytes(m.dir); left < int64(c.from)*9/10 || left > int64(c.to) {
			t.Errorf("%s: %d bytes are left, want %d to %d", name, left, c.from, c.to)
		}
	}
}

// The oldest chunks of a process that ended normally are removed first, without a floor.
// After the last one only a tomb is left.
func TestCleanExit(t *testing.T) {
	const limit = 2 << 20
	root, h := t.TempDir(), newHandClock()
	quiet := startTestMember(t, root, session.Options{Limit: limit}, h.now)
	ticks(t, h, 5, 20, quiet)
	m := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 20, 20, m, quiet)
	must(t, m.stop())
	s := standing(t, root, m.id)
	if s == nil || s.Kind != rawformat.SlotClean || s.Alive || s.Held != sessionBytes(m.dir) || s.Released == 0 || s.End != exitIn(t, m.dir).RangeEnd {
		t.Errorf("after its end: %+v", s)
	}
	busy := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 60, 50, busy, quiet)
	wantTomb(t, m.dir)
	if s := standing(t, root, m.id); s != nil {
		t.Errorf("slot: %+v", s)
	}
	wantWhole(t, quiet.dir, quiet.n)
}

// A busy process does not push a quiet one below its floor, and the quiet one
// gets room again when it writes.
func TestSessionFairness(t *testing.T) {
	const limit = 4 << 20
	root, h := t.TempDir(), newHandClock()
	quiet := startTestMember(t, root, session.Options{Limit: limit}, h.now)
	ticks(t, h, 30, 100, quiet)
	busy := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 100, 200, busy, quiet)
	held := func(m *member) int64 { return standing(t, root, m.id).Held }
	if got := held(quiet); got < limit/4 || got > limit/4+3*testFile {
		t.Errorf("the quiet one holds %d, want its floor %d", got, limit/4)
	}
	if got := held(busy); got < limit*7/10 {
		t.Errorf("the busy one holds %d", got)
	}
	wantWhole(t, quiet.dir, 0)
	ticks(t, h, 100, 200, quiet, busy)
	if got := held(busy); got > limit/4+3*testFile {
		t.Errorf("turned round, the other one holds %d, want its floor %d", got, limit/4)
	}
	wantWhole(t, busy.dir, 0)
}

// A request names a time. It is obeyed once, down to two files, and does not
// outlive its time when the clock is set back.
func TestSessionRequest(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	m := startTestMember(t, root, session.Options{Limit: 4 << 20}, h.now)
	ticks(t, h, 30, 30, m)
	before := standing(t, root, m.id)
	m.s.Ask(before.Oldest[1])
	m.s.Ask(before.Oldest[0])
	must(t, m.w.Ring.Maintain())
	after := standing(t, root, m.id)
	if after.Oldest[0] != before.Oldest[2] || after.Held >= before.Held || after.Request != 0 || after.Start <= before.Start || after.Discarded != before.Discarded+2 {
		t.Errorf("asked for two: %+v\nbefore %+v", after, before)
	}
	m.s.Ask(1 << 62)
	must(t, m.w.Ring.Maintain())
	after = standing(t, root, m.id)
	if after.Oldest[0] != 0 || after.Released != 0 || m.w.Ring.Discarded() < 10 {
		t.Errorf("asked for all: %+v", after)
	}
	h.pass(-time.Hour)
	ticks(t, h, 30, 30, m)
	if s := standing(t, root, m.id); s.Held < before.Held/2 {
		t.Errorf("the clock was set back, and it holds %d", s.Held)
	}
	wantWhole(t, m.dir, 0)
}

// A process that is found dead gets an exit record with its parent's index; a parent that
// knows how it ended replaces it.
func TestFoundDead(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	parent := startTestMember(t, root, session.Options{Limit: 4 << 20}, h.now)
	ticks(t, h, 5, 100, parent)
	child := startTestMember(t, root, session.Options{}, h.now)
	must(t, child.writeMeta(rawformat.MetaParent, fmt.Sprintf("%016x", parent.id)))
	ticks(t, h, 5, 30, child, parent)
	h.pass(time.Minute)
	must(t, child.write(1))
	child.die(t)
	h.pass(time.Second)
	ticks(t, h, 1, 0, parent)
	at, ok := session.IndexNow(root, parent.id)
	if !ok || at != parent.w.Ring.RangeEnd() || at == 1 {
		t.Errorf("index of the parent %d, %v, want %d", at, ok, parent.w.Ring.RangeEnd())
	}
	x := exitIn(t, child.dir)
	if x == nil {
		t.Fatal("no exit record")
	}
	want := chunks.Exit{Monotonic: x.Monotonic, Realtime: x.Realtime, Reason: rawformat.ExitUnknown, Parent: parent.id, ParentIndex: at,
		RangeStart: child.w.Ring.RangeStart(), RangeEnd: child.w.Ring.RangeEnd(), Discarded: uint64(child.w.Ring.Discarded())}
	if *x != want || h.now()-x.Realtime > int64(2*time.Minute) {
		t.Errorf("exit %+v\nwant %+v", *x, want)
	}
	must(t, session.WriteExit(child.dir, session.End{Pid: uint32(os.Getpid()), Signal: 9}))
	if x := exitIn(t, child.dir); x.Reason != rawformat.ExitSignal || x.Code != 9 || x.ParentIndex != at {
		t.Errorf("exit %+v", *x)
	}
	parent.die(t)
	must(t, os.Remove(filepath.Join(root, chunks.ControlName)))
	if index, ok := session.IndexNow(root, parent.id); !ok || index != parent.w.Ring.RangeEnd() {
		t.Errorf("index without a page %d, %v", index, ok)
	}
	if index, ok := session.IndexNow(root, 12345); ok {
		t.Errorf("index %d of nobody", index)
	}
}

// A process that joins takes directories without a slot into account: those of an earlier
// version, or all when the page was removed. Files that are not ours stay.
func TestAdopt(t *testing.T) {
	const limit = 2 << 20
	root, h := t.TempDir(), newHandClock()
	var dead []*member
	for range 6 {
		m := startTestMember(t, root, session.Options{Limit: limit}, h.now)
		ticks(t, h, 3, 30, m)
		m.die(t)
		dead = append(dead, m)
		h.pass(time.Second)
	}
	must(t, os.Remove(filepath.Join(root, chunks.ControlName)))
	foreign := filepath.Join(root, "00000000000000ff")
	must(t, os.Mkdir(foreign, 0o700))
	must(t, os.WriteFile(filepath.Join(foreign, "notes"), []byte("mine"), 0o600))
	begun := filepath.Join(root, "00000000000000fe") // killed when it had just begun
	must(t, os.Mkdir(begun, 0o700))
	lock, err := session.Lock(begun)
	must(t, errors.Join(err, lock.Close()))
	earlier := filepath.Join(root, "00000000000000fd") // killed earlier still
	must(t, os.Mkdir(earlier, 0o700))
	must(t, os.WriteFile(filepath.Join(earlier, chunks.LockName+chunks.NewSuffix), nil, 0o600))
	must(t, os.Chtimes(earlier, time.Now(), time.Now().Add(-time.Hour)))
	m := startTestMember(t, root, session.Options{Limit: limit}, h.now)
	ticks(t, h, 80, 30, m)
	for _, id := range []string{"00000000000000fe", "00000000000000fd"} {
		if _, err := os.Stat(filepath.Join(root, id)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a directory with nothing but a lock: %v", err)
		}
	}
	for i, d := range dead {
		s := standing(t, root, d.id)
		if kept := i == 0 || i == 5; kept != (s != nil) {
			t.Errorf("crash %d: %+v", i, s)
		}
	}
	if sum := sessionBytes(root); sum > limit+2*testFile {
		t.Errorf("%d bytes", sum)
	}
	if _, err := os.Stat(filepath.Join(foreign, "notes")); err != nil {
		t.Error(err)
	}
}

// Directories are removed by hand: that of a dead instance, which frees its slot, and that
// of a live one, which goes on without harm.
func TestRemovedByHand(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	a := startTestMember(t, root, session.Options{Limit: 2 << 20}, h.now)
	dead := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 5, 30, dead, a)
	dead.die(t)
	ticks(t, h, 3, 10, a)
	if s := standing(t, root, dead.id); s == nil || s.Kind != rawformat.SlotCrashed {
		t.Fatalf("slot %+v", s)
	}
	must(t, os.RemoveAll(dead.dir))
	ticks(t, h, 3, 10, a)
	if s := standing(t, root, dead.id); s != nil {
		t.Errorf("slot %+v", s)
	}
	unlocked := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 5, 30, unlocked, a)
	must(t, os.Remove(filepath.Join(unlocked.dir, chunks.LockName)))
	ticks(t, h, 5, 30, a, unlocked)
	if s := standing(t, root, unlocked.id); s == nil || s.Kind != rawformat.SlotLive || exitIn(t, unlocked.dir) != nil {
		t.Errorf("nobody can tell whether it lives, and its slot is %+v", s)
	}
	alive := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 5, 30, alive, a)
	must(t, os.RemoveAll(alive.dir))
	ticks(t, h, 3, 10, a)
	for range 3 { // its files are gone: errors, and no more
		must(t, alive.write(10))
		alive.tick()
		must(t, a.tick())
	}
	wantWhole(t, a.dir, 0)
}

// A crash of a process that recorded nothing does not count.
func TestCrashWithoutData(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	m := startTestMember(t, root, session.Options{Limit: 2 << 20}, h.now)
	ticks(t, h, 20, 30, m)
	m.die(t)
	h.pass(time.Second)
	for range 3 {
		startTestMember(t, root, session.Options{}, h.now).die(t)
		h.pass(time.Second)
	}
	next := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 50, 60, next)
	if s := standing(t, root, m.id); s == nil || s.Held < 600<<10 {
		t.Errorf("of the crash is left: %+v", s)
	}
	s, err := session.Read(root)
	if err != nil || len(s.Slots) != 2 {
		t.Errorf("%d slots, %v", len(s.Slots), err)
	}
}

// If the disk is so full that not even an exit record can be written, remains are removed
// all the same.
func TestRemainsOnFullDisk(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	m := startTestMember(t, root, session.Options{Limit: 4 << 20}, h.now)
	ticks(t, h, 20, 50, m)
	m.die(t)
	must(t, os.MkdirAll(filepath.Join(m.dir, chunks.ExitName+chunks.NewSuffix, "x"), 0o700)) // nothing can be written there
	r, err := session.OpenRemains(m.dir)
	must(t, err)
	if err := r.Conclude(root, rawformat.Slot{}); err == nil {
		t.Fatal("the exit record was written")
	}
	before := sessionBytes(m.dir)
	if err := r.Discard(r.Done()[3], 0); err == nil {
		t.Error("no error")
	}
	if after := sessionBytes(m.dir); before-after != 4*testFile {
		t.Errorf("%d bytes became %d, want four chunks less", before, after)
	}
}

// When chunks of a dead process are removed, its exit record notes how many, and where its
// range begins now.
func TestRemainsDiscard(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	m := startTestMember(t, root, session.Options{Limit: 1 << 20}, h.now)
	ticks(t, h, 30, 80, m)
	m.die(t)
	r, err := session.OpenRemains(m.dir)
	must(t, err)
	must(t, r.Conclude(root, rawformat.Slot{Discarded: 3}))
	before := *exitIn(t, m.dir)
	must(t, r.Discard(r.Done()[1], 0))
	p, err := chunks.OpenProcess(os.DirFS(root), filepath.Base(m.dir))
	must(t, err)
	want := before
	want.Discarded += 2
	want.RangeStart = p.Chunks[0].Header.RangeStart
	if before.Discarded != uint64(m.w.Ring.Discarded()) || want.RangeStart != before.RangeStart+2*testCapacity || *p.Exit != want {
		t.Errorf("exit %+v, before %+v", *p.Exit, before)
	}
	if r.Held() != sessionBytes(m.dir) {
		t.Errorf("holds %d bytes, want %d", r.Held(), sessionBytes(m.dir))
	}
	x := *p.Exit // somebody says that one more goes, and is killed
	x.Discarded, x.RangeStart = x.Discarded+1, p.Chunks[1].Header.RangeStart
	must(t, r.WriteExit(&x))
	r, err = session.OpenRemains(m.dir)
	must(t, err)
	must(t, r.Discard(r.Done()[1], 0))
	if got := exitIn(t, m.dir).Discarded; got != before.Discarded+4 {
		t.Errorf("%d were discarded, want %d", got, before.Discarded+4)
	}
}

// Of a dead process, windows are removed that are older than the chunks that are left; one
// that was being written when it was killed is removed first of all.
func TestRemainsTraces(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	m := startTestMember(t, root, session.Options{Limit: 1 << 20}, h.now)
	ticks(t, h, 10, 80, m)
	m.die(t)
	r, err := session.OpenRemains(m.dir)
	must(t, err)
	must(t, r.Conclude(root, rawformat.Slot{}))
	for i, done := range []int64{r.Done()[0], r.Done()[1], r.Done()[3]} {
		_, err := chunks.WriteTrace(folder.Dir(m.dir), i, 100, func(w io.Writer) error { _, err := fmt.Fprint(w, "a window"); return err })
		must(t, err)
		at := time.Unix(0, done-1)
		must(t, os.Chtimes(filepath.Join(m.dir, chunks.TraceFile.FileName(uint32(i))), at, at))
	}
	must(t, os.WriteFile(filepath.Join(m.dir, chunks.TraceFile.FileName(3)+chunks.NewSuffix), []byte("half"), 0o600))
	must(t, os.WriteFile(filepath.Join(m.dir, "trace-1.out"), []byte("none of ours"), 0o600))
	r, err = session.OpenRemains(m.dir)
	must(t, err)
	must(t, errors.Join(r.Sweep(), r.Discard(r.Done()[1], 0)))
	p, err := chunks.OpenProcess(os.DirFS(root), filepath.Base(m.dir))
	must(t, err)
	if want := []chunks.Trace{{Name: chunks.TraceFile.FileName(2), Size: 8}}; !slices.Equal(p.Traces, want) {
		t.Errorf("windows %v, want %v", p.Traces, want)
	}
	if r.Held() != sessionBytes(m.dir) {
		t.Errorf("holds %d bytes, want %d", r.Held(), sessionBytes(m.dir))
	}
	must(t, session.Erase(m.dir))
	if left, err := os.ReadDir(m.dir); err != nil || len(left) != 1 || left[0].Name() != "trace-1.out" {
		t.Errorf("left: %v, %v", left, err)
	}
}

// wantTomb checks that just a tomb is left of an instance, which says how much was
// discarded.
func wantTomb(t *testing.T, dir string) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Error(err)
		return
	}
	chunks, bytes := p.Discarded()
	if !session.IsTomb(dir) || !p.Removed() || chunks == 0 || uint64(chunks) != p.Exit.Discarded || uint64(bytes) != p.Exit.RangeEnd || len(p.Problems) > 0 {
		t.Errorf("%s: %d chunks, %d bytes, exit %+v, problems %v", dir, chunks, bytes, p.Exit, p.Problems)
	}
}
