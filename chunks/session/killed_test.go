package session_test

import (
	"os"
	"runtime"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/session"
)

// mortal is a folder whose process is killed after a number of steps.
type mortal struct {
	folder.Folder
	left *int // 0: it lives
}

// step ends the goroutine, so that nothing of the process runs any more.
func (m mortal) step(err error) error {
	if *m.left--; *m.left == 0 {
		runtime.Goexit()
	}
	return err
}

func (m mortal) Create(name string) (folder.File, error) {
	f, err := m.Folder.Create(name)
	return f, m.step(err)
}
func (m mortal) Truncate(name string, size int64) error { return m.step(m.Folder.Truncate(name, size)) }
func (m mortal) Rename(from, to string) error           { return m.step(m.Folder.Rename(from, to)) }
func (m mortal) Remove(name string) error               { return m.step(m.Folder.Remove(name)) }

// mortalMember is a member that is killed after a number of steps of its folder, once left
// is set, and another member of its session. One of its writers has had a chunk for long,
// so that discarded chunks lie in the middle of its range: only the number that it states
// accounts for them.
func mortalMember(t *testing.T) (m, other *member, h *handClock, left *int) {
	root := t.TempDir()
	h, left = newHandClock(), new(int)
	m, err := newMemberOn(root, session.Options{Limit: 1 << 20}, 0, h.now, 2, func(dir string) folder.Folder { return mortal{folder.Dir(dir), left} })
	must(t, err)
	other = startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 3, 30, m)
	if m.w.Ring.Get(2, 1) == nil {
		t.Fatal("no chunk")
	}
	ticks(t, h, 10, 60, m)
	return m, other, h, left
}

// wantAccounted makes m die and the other member look after its remains: a reader finds no
// gap before and after.
func wantAccounted(t *testing.T, m, other *member, h *handClock) {
	t.Helper()
	wantNoGap(t, m.dir)
	m.die(t)
	ticks(t, h, 10, 0, other)
	if exitIn(t, m.dir) == nil {
		t.Error("nobody has looked after the remains")
	}
	wantNoGap(t, m.dir)
	must(t, other.stop())
}

// A process is killed while it gives back chunks that others asked for, at each step, with
// no header written meanwhile.
func TestKilledWhileGivingBack(t *testing.T) {
	died := true
	for at := 1; died && !t.Failed(); at++ {
		m, other, h, left := mortalMember(t)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			*left, died = at, true
			for i := range 4 { // one chunk, or two
				m.s.Ask(m.s.Snapshot().Oldest[i%2])
				must(t, m.w.Ring.Maintain())
			}
			died = false
		}()
		<-ended
		*left = 0
		if wantAccounted(t, m, other, h); t.Failed() {
			t.Logf("killed at step %d", at)
		}
	}
}

// A process is killed when a writer has been given a range that its chunk does not state
// yet.
func TestKilledWhileOpening(t *testing.T) {
	m, other, h, _ := mortalMember(t)
	now := m.now
	m.now = func() int64 { // read when the chunk has its range, and nothing is written yet
		runtime.Goexit()
		return 0
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.w.Ring.Get(3, 1)
		t.Error("it was not killed")
	}()
	<-ended
	m.now = now
	must(t, m.w.Ring.Publish())
	wantAccounted(t, m, other, h)
}

// wantNoGap checks what a reader finds if the process is killed now.
func wantNoGap(t *testing.T, dir string) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	must(t, err)
	for _, pr := range p.Problems {
		if pr.Class == chunks.Gap {
			t.Error(pr)
		}
	}
}
