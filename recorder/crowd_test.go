package recorder_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/session"
	"gprof/rawformat"
)

const memberChunk = 64 << 10 // of member processes

// onDisk is how many bytes the files of a session have, except the control page, which counts
// for no process.
func onDisk(session string) (bytes int64) {
	filepath.WalkDir(session, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "control" {
			return nil // it was removed meanwhile
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// watch measures how much a session takes until end is called, which returns the maximum.
func watch(session string) (end func() int64) {
	var most atomic.Int64
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			most.Store(max(most.Load(), onDisk(session)))
			select {
			case <-quit:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(quit)
		<-done
		return most.Load()
	}
}

// Eight processes share one limit, and two of them are killed. The sum of all files stays
// within the limit and two chunks for each process, and the last markers of the survivors are
// all there. Where the machine allows it, some of the processes have pid namespaces of their
// own.
func TestEightProcesses(t *testing.T) {
	for _, wrap := range []string{"", "unshare"} {
		t.Run("in namespaces: "+wrap, func(t *testing.T) { eightProcesses(t, wrap) })
	}
}

func eightProcesses(t *testing.T, wrap string) {
	// The floor is half a megabyte for each process. Rings of threads take a third of that,
	// and if there were room for only two chunks the newest markers would be discarded, too.
	const processes, limit, rounds, batch = 8, 8 << 20, 40, 1000
	dir := t.TempDir()
	session := filepath.Join(dir, "s")
	var members []*member
	for range processes {
		cmd := child("member", []string{dir}, fmt.Sprintf("GPROF_LIMIT=%d", limit))
		if wrap != "" && !unshare(t, cmd) {
			return
		}
		members = append(members, runMember(t, cmd))
	}
	most := watch(session)
	var wg sync.WaitGroup
	made := make([]int, processes)
	for i, m := range members {
		wg.Go(func() {
			for n := range rounds {
				if i < 2 && n == rounds/2 {
					m.kill()
					return
				}
				if _, err := fmt.Sscan(m.do(fmt.Sprint("mark ", batch)), &made[i]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	peak := most()
	t.Logf("at most %.2f MiB of %.2f, and %.2f left", float64(peak)/(1<<20), float64(limit)/(1<<20), float64(onDisk(session))/(1<<20))
	if allowed := int64(limit + 2*processes*memberChunk); peak > allowed {
		t.Errorf("%d bytes, want at most %d", peak, allowed)
	}
	if peak < limit/2 {
		t.Errorf("at most %d bytes: the limit was never met", peak)
	}
	tell(t, session, rawformat.CommandStop) // otherwise the files of a process that has ended would be the first to make room for the others
	for _, m := range members[2:] {
		m.stop()
	}
	for i, m := range members { // no process is left that could discard what is being read
		checkWindow(t, m.dir, made[i], i < 2)
	}
}

// checkWindow checks that the last markers of a process, up to the n-th, are there without a
// gap except for those counted as lost: on a busy machine the keeper may not have made room in
// time. A chunk that was open for long may hold older markers.
func checkWindow(t *testing.T, dir string, n int, killed bool) {
	t.Helper()
	r := read(t, dir, chunks.Unproven, chunks.Stale)
	found := numbers(t, dir)
	slices.Sort(found)
	last := slices.Max(append(found, 0)) // 0 if there was never room for a chunk
	if last+int(r.lost()) < n || last > n && !killed {
		t.Fatalf("%s: %d markers, the last one %d, %d lost, want %d; it ended with %+v", filepath.Base(dir), len(found), last, r.lost(), n, r.Exit)
	}
	window, left := 1, int(r.lost())
	for i := len(found) - 1; i > 0 && found[i]-found[i-1]-1 <= left; i-- {
		left -= found[i] - found[i-1] - 1
		window++
	}
	t.Logf("%s: the last %d of %d markers, %d lost", filepath.Base(dir), window, n, r.lost())
	if before := len(found) - window; before > memberChunk/markerSize+1 {
		t.Errorf("%s: %d markers without a hole and %d before them", filepath.Base(dir), window, before)
	}
}

// unshare has cmd run in namespaces of its own, as in another container on the same volume.
// False: this machine doesn't allow it.
func unshare(t *testing.T, cmd *exec.Cmd) bool {
	path, err := exec.LookPath("unshare")
	flags := []string{"unshare", "--pid", "--mount", "--fork", "--kill-child"}
	if err == nil {
		err = exec.Command(path, append(flags[1:], "true")...).Run()
	}
	if err != nil {
		t.Logf("no namespaces on this machine: %v", err)
		return false
	}
	cmd.Args = append(flags, cmd.Args...)
	cmd.Path = path
	return true
}

// A busy process can't push a quiet one below its floor, half of an equal share. The quiet one logs
// what it gave up.
func TestQuietKeepsItsFloor(t *testing.T) {
	const limit, floor = 3 << 20, 768 << 10
	dir := t.TempDir()
	in := filepath.Join(dir, "s")
	quiet, busy := startMember(t, dir, fmt.Sprintf("GPROF_LIMIT=%d", limit)), startMember(t, dir)
	held := func() int64 {
		i := slices.IndexFunc(readSession(t, in).Slots, func(s session.Standing) bool { return s.Instance == quiet.instance() })
		return readSession(t, in).Slots[i].Held
	}
	first, made := 0, 0
	more := func() {
		busy.do("mark 2000")
		made += 2000
	}
	await(t, "the quiet one says what it has", func() bool {
		quiet.do("mark 6000") // about 400 KB; markers for which there is no chunk yet do not count
		first += 6000
		return first >= 18_000 && held() > 1<<20
	})
	await(t, "the quiet one gives what it has above its floor", func() bool {
		more()
		return held() < floor+2*memberChunk
	})
	await(t, "the quiet one logs that", func() bool {
		return read(t, quiet.dir, chunks.Unproven, chunks.Stale).kinds[rawformat.KindLog] > 0
	})
	for range 50 { // three times the limit
		more()
	}
	atLeast := held()
	tell(t, in, rawformat.CommandStop)
	payload := int64(0)
	for _, im := range read(t, quiet.dir).Chunks {
		payload += int64(im.Header.Commit.Offset())
	}
	t.Logf("the quiet one held %d bytes, %d of them data; its floor is %d; the busy one made %d markers", atLeast, payload, floor, made)
	if atLeast < floor-2*rawformat.HeadSize || // the heads left of removed files are no chunks
		payload < floor/4 {
		t.Errorf("the quiet one held %d bytes and has %d of data, want %d", atLeast, payload, floor)
	}
	checkWindow(t, quiet.dir, first, false)
	checkWindow(t, busy.dir, made, false)
}

// A service that is restarted again and again reuses its session: the limit holds, and
// directories don't pile up.
func TestRestarts(t *testing.T) {
	const limit = 1 << 20
	dir := t.TempDir()
	session := filepath.Join(dir, "s")
	var last *member
	for range 10 {
		last = startMember(t, dir, fmt.Sprintf("GPROF_LIMIT=%d", limit))
		last.do("mark 8000") // some 500 KB
		last.stop()
		if n := onDisk(session); n > limit+2*memberChunk {
			t.Errorf("%d bytes, want at most %d", n, limit)
		}
	}
	if dirs := instances(t, session); len(dirs) > 4 {
		t.Errorf("%d directories: %v", len(dirs), dirs)
	}
	checkWindow(t, last.dir, 8000, false)
}

// In a crash loop the first and the newest crash stay readable, within the limit.
func TestCrashLoop(t *testing.T) {
	const limit = 3 << 20
	dir := t.TempDir()
	session := filepath.Join(dir, "s")
	var crashed []*member
	var made []int
	for range 10 {
		m := startMember(t, dir, fmt.Sprintf("GPROF_LIMIT=%d", limit))
		m.do("insist 10000") // some 640 KB in all, as fast as the ring has room for it
		n := 10_000
		await(t, "the ring has a thousand markers: on a busy machine the keeper makes room late", func() bool {
			if len(numbers(t, m.dir)) >= 1000 {
				return true
			}
			m.do("insist 1000")
			n += 1000
			return false
		})
		m.kill()
		crashed, made = append(crashed, m), append(made, n)
		// Definitions and rings of threads may exceed the limit until the keeper's next
		// round, before which this process was killed.
		if n := onDisk(session); n > limit+4*memberChunk {
			t.Errorf("%d bytes, want at most %d", n, limit)
		}
	}
	startMember(t, dir).stop()
	for _, i := range []int{0, 9} {
		if found := numbers(t, crashed[i].dir); len(found) < 1000 || found[len(found)-1] != made[i] {
			t.Errorf("%s: %d markers of %d", filepath.Base(crashed[i].dir), len(found), made[i])
		}
	}
	if s := readSession(t, session); s.Limit != limit || s.Sum() > limit {
		t.Errorf("%d bytes of %d", s.Sum(), s.Limit)
	}
	if dirs := instances(t, session); len(dirs) > 10 {
		t.Errorf("%d directories: none of the crashes in between has made room", len(dirs))
	}
}

// Children of a process, of which two ended cleanly and one was killed, stay beside a busy
// neighbour while their parent holds what is of their time. After that those that ended
// cleanly go first, and leave a tombstone that says so.
func TestChildrenKeepTheirFloor(t *testing.T) {
	const limit = 3 << 20
	dir := t.TempDir()
	in := filepath.Join(dir, "s")
	parent := startMember(t, dir, fmt.Sprintf("GPROF_LIMIT=%d", limit))
	parent.do("mark 999")
	var kids []*member
	for i := range 3 {
		kid := startMember(t, dir, "GPROF_PARENT="+filepath.Base(parent.dir))
		kid.do("mark 999")
		if i == 1 {
			kid.kill()
		} else {
			kid.stop()
		}
		kids = append(kids, kid)
	}
	busy := startMember(t, dir)
	flood := func(m *member, rounds int) {
		for range rounds {
			m.do("mark 999")
			m.do("insist")
		}
	}
	flood(busy, 100) // some 6 MB
	for _, kid := range kids {
		checkWindow(t, kid.dir, 999, false)
	}
	await(t, "only the parent, the busy one and the crash are there", func() bool {
		flood(parent, 1)
		return len(instances(t, in)) <= 3
	})
	for i, kid := range kids {
		if i == 1 {
			if r := read(t, kid.dir, chunks.Unproven, chunks.Stale); r.Removed() {
				t.Errorf("the child that was killed is gone: %v", r.Meta)
			}
			continue
		}
		await(t, "the tombstone, which comes after the chunks went", func() bool {
			r := read(t, kid.dir, chunks.Unproven, chunks.Stale)
			return r.Removed() && r.Value(rawformat.MetaMadeWay) == rawformat.MadeWayExpired
		})
	}
}

// instances returns the directories in a session that hold chunks. A process whose chunks were
// discarded leaves a small tombstone.
func instances(t *testing.T, session string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(session)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if found, _ := filepath.Glob(filepath.Join(session, e.Name(), "chunk-*")); len(found) > 0 {
			names = append(names, e.Name())
		}
	}
	return names
}

// An exit record has the parent's index at that moment, whether the child stopped or was killed.
func TestParentIndex(t *testing.T) {
	for _, killed := range []bool{false, true} {
		dir := t.TempDir()
		in := filepath.Join(dir, "s")
		parent := startMember(t, dir)
		mark := func() uint64 {
			t.Helper()
			before, _ := session.IndexNow(in, parent.instance())
			parent.do("mark 3000")
			var index uint64
			await(t, "the parent's mark rises", func() bool {
				index, _ = session.IndexNow(in, parent.instance())
				return index > before
			})
			return index
		}
		mark()
		kid := startMember(t, dir, "GPROF_PARENT="+filepath.Base(parent.dir))
		kid.do("mark 10")
		before := mark()
		want := rawformat.ExitStopped
		if killed {
			want = rawformat.ExitUnknown
			kid.kill()
		} else {
			kid.stop()
		}
		var r *recording
		await(t, "an exit record", func() bool {
			r = read(t, kid.dir, chunks.Unproven, chunks.Stale) // the parent works on its files meanwhile
			return r.Exit != nil
		})
		after := mark()
		x := r.Exit
		if x.Reason != want || x.Parent != parent.instance() || x.ParentIndex < before || x.ParentIndex > after {
			t.Errorf("killed %v: %+v, want the parent's index between %d and %d", killed, x, before, after)
		}
		if got := r.meta(rawformat.MetaParentIdx); got == "" {
			t.Error("meta doesn't say where the parent was at the start")
		}
		parent.stop()
	}
}
