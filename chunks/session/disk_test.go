package session_test

import (
	"syscall"
	"testing"
	"time"

	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// smallDisk has room for so many bytes of a session.
type smallDisk struct {
	folder.Folder
	root string
	room int64
}

func (d *smallDisk) Map(name string, size int) (*mapping.Mapping, error) {
	if sessionBytes(d.root)+int64(size) > d.room {
		return nil, syscall.ENOSPC
	}
	return d.Folder.Map(name, size)
}

// A service crashes again and again on a disk with less room than its limit. Each time it
// finds room to record, and the first and the newest crash stay.
func TestCrashLoopOnSmallDisk(t *testing.T) {
	const limit, disk = 8 << 20, 2 << 20
	root, h := t.TempDir(), newHandClock()
	var crashed []*member
	for range 5 {
		m, err := newMemberOn(root, session.Options{Limit: limit}, time.Minute, h.now, 2, func(dir string) folder.Folder {
			return &smallDisk{folder.Dir(dir), root, disk}
		})
		if err != nil {
			t.Fatalf("start %d: %v", len(crashed), err)
		}
		for range 30 {
			h.pass(100 * time.Millisecond)
			must(t, m.write(60))
			m.tick() // says that the disk is full
		}
		if held := sessionBytes(m.dir); held < disk/4 {
			t.Errorf("start %d holds %d bytes", len(crashed), held)
		}
		m.die(t)
		wantWhole(t, m.dir, 0)
		crashed = append(crashed, m)
		h.pass(time.Minute)
	}
	for i, m := range crashed {
		kept := i == 0 || i == len(crashed)-1
		if held := sessionBytes(m.dir); kept && held < disk/4 {
			t.Errorf("crash %d: %d bytes are left", i, held)
		}
		if kept {
			wantWhole(t, m.dir, 0)
		}
	}
}

// On a full disk other programs take the space that becomes free: the remains of dead
// processes must not be removed in vain.
func TestFullDiskTakenByOthers(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	dead := startTestMember(t, root, session.Options{Limit: 8 << 20}, h.now)
	ticks(t, h, 30, 60, dead)
	must(t, dead.stop())
	disk := &smallDisk{root: root, room: sessionBytes(root) + 4*testFile}
	m, err := newMemberOn(root, session.Options{}, time.Minute, h.now, 2, func(dir string) folder.Folder {
		disk.Folder = folder.Dir(dir)
		return disk
	})
	must(t, err)
	t.Cleanup(func() { m.lock.Close() })
	before := sessionBytes(dead.dir)
	for range 50 { // five seconds
		disk.room = 0
		h.pass(100 * time.Millisecond)
		must(t, m.write(60))
		m.tick() // says that the disk is full
	}
	if gone := before - sessionBytes(dead.dir); gone > 4*testFile {
		t.Errorf("%d bytes of %d went for nothing", gone, before)
	}
	if s := standing(t, root, m.id); s == nil || s.Kind != rawformat.SlotLive {
		t.Errorf("slot %+v", s)
	}
}
