package recorder_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// A pause by the session and one by the program itself don't cancel each other.
func TestSessionPause(t *testing.T) {
	dir := t.TempDir()
	session := filepath.Join(dir, "s")
	a, b := startMember(t, dir), startMember(t, dir)
	expect := func(m *member, what, want string) {
		t.Helper()
		if got := m.do(what); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	expect(a, "mark 3", "3 true")
	expect(b, "pause", "0 false")
	tell(t, session, rawformat.CommandPause)
	expect(a, "mark 3", "6 false")
	expect(b, "resume", "0 false")
	expect(b, "pause", "0 false")
	tell(t, session, rawformat.CommandResume)
	expect(a, "mark 1", "7 true")
	expect(b, "mark 5", "5 false")
	expect(b, "resume", "5 true")
	expect(b, "mark 1", "6 true")
	a.stop()
	b.stop()
	if got := numbers(t, a.dir); !slices.Equal(got, []int{1, 2, 3, 7}) {
		t.Errorf("markers %v", got)
	}
	if got := numbers(t, b.dir); !slices.Equal(got, []int{6}) {
		t.Errorf("markers %v", got)
	}
	for _, m := range []*member{a, b} {
		if r := read(t, m.dir); r.kinds[kindPause] != 1 || r.kinds[kindResume] != 1 {
			t.Errorf("%d pauses and %d resumes, want one each", r.kinds[kindPause], r.kinds[kindResume])
		}
	}
}

// Data recorded before a stop is whole and readable while the session is stopped, takes no
// additional room, and is still there after a start.
func TestSessionStop(t *testing.T) {
	dir := t.TempDir()
	session := filepath.Join(dir, "s")
	a := startMember(t, dir)
	a.do("mark 1000")
	tell(t, session, rawformat.CommandStop)
	if got := a.do("mark 5"); got != "1005 false" {
		t.Errorf("mark: %s", got)
	}
	stopped := read(t, a.dir)
	files, err := filepath.Glob(filepath.Join(a.dir, "chunk-*"))
	if err != nil || len(files) != len(stopped.Chunks) {
		t.Errorf("%d chunk files, %v, want the %d that hold something", len(files), err, len(stopped.Chunks))
	}
	for _, im := range stopped.Chunks {
		if !im.Closed {
			t.Errorf("%s is not sealed", im.Name)
		}
	}
	if n := len(stopped.of("acked")); n != 1000 {
		t.Errorf("%d markers while it is stopped, want 1000", n)
	}
	late := startMember(t, dir)
	if got := late.do("mark 4"); got != "4 false" {
		t.Errorf("a process of a stopped session: %s", got)
	}
	tell(t, session, rawformat.CommandStart)
	if got := late.do("mark 1"); got != "5 true" {
		t.Errorf("after start: %s", got)
	}
	if got := a.do("mark 1"); got != "1006 true" {
		t.Errorf("after start: %s", got)
	}
	a.stop()
	late.stop()
	if got := numbers(t, a.dir); len(got) != 1001 || got[1000] != 1006 {
		t.Errorf("%d markers, want 1 to 1000 and 1006", len(got))
	}
	if got := numbers(t, late.dir); !slices.Equal(got, []int{5}) {
		t.Errorf("markers %v of the late one, want the 5th", got)
	}
}

// The CPU sampler's last window does not displace older data.
func TestSessionStopsTheSampler(t *testing.T) {
	rec := begin(t, recorder.Options{CPU: recorder.CPUPprof})
	for range 1000 {
		one.Mark(1)
	}
	tell(t, rec.Session(), rawformat.CommandStop)
	if files, _ := filepath.Glob(filepath.Join(rec.Dir(), "chunk-*")); len(files) != len(read(t, rec.Dir()).Chunks) {
		t.Errorf("%d files, want as many as hold something", len(files))
	}
	tell(t, rec.Session(), rawformat.CommandStart)
	if !rec.Recording() {
		t.Error("it doesn't record")
	}
	if n := len(finish(t, rec).of("one")); n != 1000 {
		t.Errorf("%d markers, want 1000", n)
	}
}

// The session has one limit: a process that states one sets it, and others take it over.
func TestSessionLimit(t *testing.T) {
	dir := t.TempDir()
	session := filepath.Join(dir, "s")
	limit := func(want int64) {
		t.Helper()
		if got := readSession(t, session).Limit; got != want {
			t.Errorf("limit %d, want %d", got, want)
		}
	}
	a := startMember(t, dir, "GPROF_LIMIT=3M")
	limit(3 << 20)
	b := startMember(t, dir)
	limit(3 << 20)
	if got := read(t, b.dir, chunks.Unproven).meta(rawformat.MetaLimit); got != "3145728" {
		t.Errorf("meta of the second says %s", got)
	}
	c := startMember(t, dir, "GPROF_LIMIT=5M")
	limit(5 << 20)
	for _, m := range []*member{a, b, c} {
		m.stop()
	}
	startMember(t, dir).stop() // restarted
	limit(5 << 20)
}

// A process for which the session has no room records nothing and says so. The others go on, and
// when one of them has ended there is room.
func TestCrowdedSession(t *testing.T) {
	dir := t.TempDir()
	session := filepath.Join(dir, "s")
	var members []*member
	for range 3 {
		members = append(members, startMember(t, dir, "GPROF_LIMIT=512K"))
	}
	out, err := child("member", []string{dir}).Output()
	if err != nil || !strings.Contains(string(out), recorder.ErrSmall.Error()) {
		t.Errorf("%s, %v, want %v", out, err, recorder.ErrSmall)
	}
	if dirs := instances(t, session); len(dirs) != 3 {
		t.Errorf("%d directories, want those of the 3 that record", len(dirs))
	}
	for _, m := range members {
		if got := m.do("mark 5"); got != "5 true" {
			t.Errorf("mark: %s", got)
		}
	}
	members[0].stop()
	if got := startMember(t, dir).do("mark 1"); got != "1 true" {
		t.Errorf("in the room of one that ended: %s", got)
	}
}

// If the control page can't be used, processes record alone.
func TestAlone(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"foreign":   func(path string) error { return os.WriteFile(path, []byte("something else\n"), 0o600) },
		"dangling":  func(path string) error { return os.Symlink("/nowhere/at/all", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			session := filepath.Join(dir, "s")
			if err := os.Mkdir(session, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := make(filepath.Join(session, "control")); err != nil {
				t.Fatal(err)
			}
			rec := begin(t, recorder.Options{Dir: dir, Service: "s"})
			one.Mark(1)
			r := finish(t, rec)
			if got := r.meta(rawformat.MetaSelfTest + "session"); !strings.HasPrefix(got, "alone") {
				t.Errorf("meta: session %q, want alone and why", got)
			}
			if len(r.of("one")) != 1 {
				t.Error("nothing recorded")
			}
		})
	}
	rec := begin(t, recorder.Options{})
	if got := finish(t, rec).meta(rawformat.MetaSelfTest + "session"); got != "shared limit" {
		t.Errorf("meta: session %q", got)
	}
}
