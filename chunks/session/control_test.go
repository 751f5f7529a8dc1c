package session

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/rawformat"
)

// openTestControl opens the control page of a session, and closes it in the end.
func openTestControl(t testing.TB, session string, o Options) *Control {
	t.Helper()
	c, err := Open(session, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// The first process sets the limit; one that asks for another limit replaces it.
func TestControlLimit(t *testing.T) {
	session := t.TempDir()
	if _, err := Open(session, Options{Existing: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v of a session without a page", err)
	}
	first := openTestControl(t, session, Options{Limit: 5 << 20})
	for _, step := range []struct {
		o    Options
		want int64
	}{
		{Options{Limit: 7 << 20}, 5 << 20},
		{Options{Existing: true}, 5 << 20},
		{Options{Limit: 9 << 20, LimitAsked: true}, 9 << 20},
		{Options{Limit: -1}, 9 << 20},
	} {
		c := openTestControl(t, session, step.o)
		if c.Limit() != step.want || first.Limit() != step.want {
			t.Errorf("%+v: limit %d, the first one's %d, want %d", step.o, c.Limit(), first.Limit(), step.want)
		}
	}
	for limit, want := range map[int64]int64{-5: 1, 1 << 62: rawformat.MaxLimit, 1 << 20: 1 << 20} {
		if err := first.setLimit(limit); err != nil || first.Limit() != want {
			t.Errorf("limit %d became %d, %v", limit, first.Limit(), err)
		}
	}
	if c := openTestControl(t, t.TempDir(), Options{}); c.Limit() != 64<<20 {
		t.Errorf("default limit %d", c.Limit())
	}
}

func TestControlCommand(t *testing.T) {
	session := t.TempDir()
	a, b := openTestControl(t, session, Options{}), openTestControl(t, session, Options{})
	if what, generation := a.State(); what != rawformat.CommandStart || generation != 0 {
		t.Errorf("new session: %v, %d", what, generation)
	}
	for i, say := range []rawformat.Command{rawformat.CommandPause, rawformat.CommandResume, rawformat.CommandStop} {
		generation, err := a.Command(say)
		what, heard := b.State()
		if err != nil || what != say || heard != generation || generation != uint64(i+1) {
			t.Errorf("said %v, generation %d, %v; heard %v, %d", say, generation, err, what, heard)
		}
	}
	s, err := Read(session)
	if err != nil || s.Command != rawformat.CommandStop || s.Generation != 3 || s.Limit != 64<<20 || len(s.Slots) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Many processes open and join a session at once, and agree on the page.
func TestControlTogether(t *testing.T) {
	session := t.TempDir()
	slots := make([]*Slot, 20)
	var work sync.WaitGroup
	for i := range slots {
		work.Go(func() {
			id := uint64(i + 1)
			lockInstance(t, session, id)
			c, err := Open(session, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { c.Close() })
			if slots[i], err = c.Join(Member{Instance: id, Pid: uint32(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	s, err := Read(session)
	if err != nil || len(s.Slots) != len(slots) {
		t.Fatalf("%d slots, %v", len(s.Slots), err)
	}
	for _, x := range s.Slots {
		if !x.Alive || x.Kind != rawformat.SlotLive || x.Pid+1 != uint32(x.Instance) || x.Start != 1 || x.End != 1 {
			t.Errorf("%+v", x)
		}
	}
	if share := slots[3].Share(); share != 64<<20/20 {
		t.Errorf("share %d", share)
	}
}

// lockInstance makes an instance's directory and locks it until the test ends or
// the lock is closed.
func lockInstance(t testing.TB, session string, id uint64) *os.File {
	t.Helper()
	dir := (&Control{session: session}).dir(id)
	err := os.Mkdir(dir, 0o700)
	var lock *os.File
	if err == nil {
		lock, err = Lock(dir)
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(func() { lock.Close() })
	return lock
}

// A damaged page is repaired; a file that is not ours is left alone.
func TestControlDamaged(t *testing.T) {
	whole := t.TempDir()
	openTestControl(t, whole, Options{Limit: 3 << 20}).Command(rawformat.CommandPause)
	page, err := os.ReadFile(filepath.Join(whole, chunks.ControlName))
	if err != nil || len(page) != rawformat.ControlSize {
		t.Fatalf("page of %d bytes, %v", len(page), err)
	}
	alter := func(at int, v ...byte) []byte {
		b := slices.Clone(page)
		copy(b[at:], v)
		return b
	}
	put64 := func(at int, v uint64) []byte { return alter(at, binary.LittleEndian.AppendUint64(nil, v)...) }
	for name, c := range map[string]struct {
		content []byte
		limit   int64 // 0: refused
		paused  bool
		err     error
	}{
		"empty":            {content: nil, limit: 1 << 20},
		"a byte":           {content: page[:1], limit: 1 << 20},
		"short head":       {content: page[:20], limit: 1 << 20},
		"head alone":       {content: page[:4096], limit: 3 << 20, paused: true},
		"slots cut off":    {content: page[:50000], limit: 3 << 20, paused: true},
		"zeros":            {content: make([]byte, len(page)), limit: 1 << 20},
		"whole":            {content: page, limit: 3 << 20, paused: true},
		"longer":           {content: append(slices.Clone(page), 1, 2, 3), limit: 3 << 20, paused: true},
		"bad checksum":     {content: alter(rawformat.OffControlCRC, 1, 2, 3), limit: 3 << 20, paused: true},
		"bad creation":     {content: put64(16, 77), limit: 3 << 20, paused: true},
		"other slots":      {content: alter(8, 7), limit: 3 << 20, paused: true},
		"no limit":         {content: put64(rawformat.OffControlLimit, 0), limit: 1 << 20, paused: true},
		"impossible limit": {content: put64(rawformat.OffControlLimit, 1<<63), limit: 1 << 20, paused: true},
		"foreign":          {content: []byte("a file that somebody else called control"), err: rawformat.ErrMagic},
		"long and foreign": {content: []byte(strings.Repeat("control ", 30000)), err: rawformat.ErrMagic},
		"newer":            {content: alter(4, 0xff), err: rawformat.ErrVersion},
		"a chunk file":     {content: []byte(rawformat.MagicChunk + strings.Repeat("\x00", 5000)), err: rawformat.ErrMagic},
	} {
		session := t.TempDir()
		path := filepath.Join(session, chunks.ControlName)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Open(session, Options{Limit: 1 << 20})
		if c.limit == 0 {
			after, _ := os.ReadFile(path)
			if !errors.Is(err, c.err) || !slices.Equal(after, c.content) {
				t.Errorf("%s: error %v, want %v and the file as it was", name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		what, _ := got.State()
		if got.Limit() != c.limit || (what == rawformat.CommandPause) != c.paused {
			t.Errorf("%s: limit %d, %v", name, got.Limit(), what)
		}
		if s, err := Read(session); err != nil || s.Limit != c.limit {
			t.Errorf("%s: read as %+v, %v", name, s, err)
		}
		got.Close()
	}
}

// Tools can read a page that is not whole, or get an error of its class.
func TestReadDamaged(t *testing.T) {
	whole := t.TempDir()
	c := openTestControl(t, whole, Options{})
	lockInstance(t, whole, 5)
	if _, err := c.Join(Member{Instance: 5}); err != nil {
		t.Fatal(err)
	}
	page, _ := os.ReadFile(filepath.Join(whole, chunks.ControlName))
	for size, want := range map[int]error{0: rawformat.ErrTruncated, 4095: rawformat.ErrTruncated, 4096: nil, 4096 + 127: nil} {
		session := t.TempDir()
		if err := os.WriteFile(filepath.Join(session, chunks.ControlName), page[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Read(session); !errors.Is(err, want) || err == nil && len(s.Slots) != 0 {
			t.Errorf("%d bytes: %+v, %v", size, s, err)
		}
	}
	if _, err := Read(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no page: %v", err)
	}
}

// Anything but a regular file is refused at once; opening a pipe would block.
func TestControlOdd(t *testing.T) {
	session := t.TempDir()
	if err := os.Mkdir(filepath.Join(session, chunks.ControlName), 0o700); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(session, Options{}); err == nil {
		c.Close()
		t.Error("a directory is taken for a control page")
	}
	session = t.TempDir()
	if err := os.Symlink(filepath.Join(session, "elsewhere"), filepath.Join(session, chunks.ControlName)); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(session, Options{}); err == nil {
		c.Close()
		t.Error("a link is followed")
	}
}

// Another process was stopped while it changed the page: nobody waits for ever.
func TestControlBusy(t *testing.T) {
	session := t.TempDir()
	c := openTestControl(t, session, Options{})
	other := openTestControl(t, session, Options{})
	if err := folder.TryLock(other.file, false); err != nil {
		t.Fatal(err)
	}
	if err := c.locked(time.Millisecond, func() error { return nil }); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v", err)
	}
	if err := c.release(slotAt(0), 1); err != nil {
		t.Errorf("a release that can wait: %v", err)
	}
}

// A session has 1,024 slots. The least valuable remains make room for a process that
// joins; if all slots are of live processes there is no room.
func TestControlFull(t *testing.T) {
	session := t.TempDir()
	c := openTestControl(t, session, Options{})
	lock := lockInstance(t, session, 1)
	for i := range rawformat.MaxSlots {
		id := uint64(i + 1)
		if id > 1 {
			dir := c.dir(id)
			must(t, os.Mkdir(dir, 0o700))
			must(t, os.Link(lock.Name()[:len(lock.Name())-len(chunks.NewSuffix)], filepath.Join(dir, chunks.LockName)))
		}
		must(t, c.locked(0, (&Slot{c: c, member: Member{Instance: id}}).take))
	}
	lockInstance(t, session, 5000)
	if _, err := c.Join(Member{Instance: 5000}); !errors.Is(err, ErrSlots) {
		t.Errorf("error %v", err)
	}
	free := slotAt(700)
	binary.LittleEndian.PutUint64(c.mem[free+rawformat.OffSlotOwner:], uint64(rawformat.SlotClean)<<32)
	must(t, os.Remove(filepath.Join(c.dir(701), chunks.LockName)))
	s, err := c.Join(Member{Instance: 5000})
	if err != nil || s.at != free {
		t.Errorf("slot %+v, %v; want that of who is gone", s, err)
	}
	if _, err := os.Stat(c.dir(701)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its directory: %v", err)
	}
	for i, ended := range []uint64{2, 1} { // children of process 1, which are kept
		at := slotAt(800 + i)
		for off, v := range map[int]uint64{rawformat.OffSlotOwner: uint64(rawformat.SlotChild) << 32, rawformat.OffSlotParent: 1, rawformat.OffSlotMark: 7, rawformat.OffSlotEnded: ended} {
			binary.LittleEndian.PutUint64(c.mem[at+off:], v)
		}
		must(t, os.Remove(filepath.Join(c.dir(uint64(801+i)), chunks.LockName)))
	}
	lockInstance(t, session, 5001)
	if s, err = c.Join(Member{Instance: 5001}); err != nil || s.at != slotAt(801) {
		t.Errorf("slot %+v, %v; want that of the older child", s, err)
	}
}

// A thousand processes died and left nothing but their slots: there is room.
func TestControlFullOfNothing(t *testing.T) {
	session := t.TempDir()
	c := openTestControl(t, session, Options{})
	for i := range rawformat.MaxSlots {
		must(t, c.locked(0, (&Slot{c: c, member: Member{Instance: uint64(i + 1)}}).take))
	}
	lockInstance(t, session, 5000)
	if _, err := c.Join(Member{Instance: 5000}); err != nil {
		t.Error(err)
	}
}
