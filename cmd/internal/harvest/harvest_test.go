//go:build unix

package harvest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/kept"
	"gprof/cmd/internal/store"
	"gprof/ingest/pack"
	"gprof/rawformat"
	"gprof/recorder"
)

// running starts a recorder in the session of a service below dir.
func running(t *testing.T, dir, service string, triggers ...recorder.Trigger) *recorder.Recorder {
	t.Helper()
	t.Setenv(recorder.EnvSession, "") // of whoever runs the tests
	rec, err := recorder.Start(recorder.Options{Dir: dir, Service: service, Limit: 4 << 20, ChunkSize: 64 << 10, CPU: recorder.CPUOff, CounterHz: -1, Triggers: triggers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Stop() })
	return rec
}

var markEvent = recorder.NewEvent1("harvested", recorder.String("text"))

// leave records and leaves below dir what a process would: one that was killed, whose files are as
// they were at some moment, or one that ended in order.
func leave(t *testing.T, dir, service string, inOrder bool) (instance string) {
	t.Helper()
	rec := running(t, t.TempDir(), service)
	for range 2000 {
		markEvent.Mark(strings.Repeat("x", 100))
	}
	if inOrder {
		rec.Stop()
	}
	instance = filepath.Base(rec.Dir())
	to := filepath.Join(dir, service, instance)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	err := os.CopyFS(to, os.DirFS(rec.Dir()))
	for errors.Is(err, fs.ErrNotExist) { // meta was completed, which gave a file that was listed another name
		err = errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(rec.Dir())))
	}
	if err != nil {
		t.Fatal(err)
	}
	rec.Stop()
	return instance
}

// keeping starts a recorder whose trigger keeps what it recorded, and returns the name of the file.
func keeping(t *testing.T, dir, service string) (rec *recorder.Recorder, file string) {
	t.Helper()
	rec = running(t, dir, service, recorder.Trigger{Rule: "kept>1h: snapshot every 1h"})
	for range 2000 {
		markEvent.Mark(strings.Repeat("x", 100))
	}
	keptEvent.Interval(recorder.TimeOf(time.Now().Add(-2 * time.Hour)))
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if files, err := kept.List(rec.Session()); err != nil || len(files) > 0 {
			return rec, files[0].Name()
		}
	}
	t.Fatal("nothing was kept")
	return nil, ""
}

var keptEvent = recorder.NewEvent("kept")

// harvester is one whose events are kept.
type harvester struct {
	*Harvester
	mu     sync.Mutex
	events []Event
}

func newHarvester(o Options) *harvester {
	h := &harvester{}
	o.Report = func(e Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events = append(h.events, e)
	}
	h.Harvester = New(o)
	return h
}

// count is how many events there were of a kind.
func (h *harvester) count(what What) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if e.What == what {
			n++
		}
	}
	return n
}

// said is all that was said.
func (h *harvester) said() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, e := range h.events {
		b.WriteString(e.String() + "\n")
	}
	return b.String()
}

func placeIn(t *testing.T, dir string) store.Place {
	t.Helper()
	p, err := new(store.Stores).Place(dir, ".harvest", "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// saved are the names of files in a place.
func saved(t *testing.T, dir string) (names []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	slices.Sort(names)
	return names
}

// markersIn counts the markers in the only file of an instance.
func markersIn(t *testing.T, dir, instance string) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", instance+".gprof"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	return markersOf(t, files[0], instance)
}

// markersOf counts the markers of an instance in a file.
func markersOf(t *testing.T, file, instance string) (n int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	a, err := pack.Open(f, info.Size())
	if err != nil || len(a.Problems) > 0 {
		t.Fatalf("%v, %v", err, a.Problems)
	}
	p, err := chunks.OpenProcess(a, instance)
	if err != nil || len(p.Problems) > 0 {
		t.Fatalf("%v, %v", err, p.Problems)
	}
	report := func(pr chunks.Problem) {
		if pr.Class != chunks.Unproven { // it was not sealed before the process was killed
			t.Error(pr)
		}
	}
	for r := p.Blocks(report); r.Next(); {
		if r.Block().Kind == rawformat.KindInstant {
			n++
		}
	}
	return n
}

// Each process that was killed is saved once, whoever harvests and how often; one that ended in order
// if that is asked for, and one that lives never.
func TestOnce(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	a, b, c := leave(t, in, "a", false), leave(t, in, "b", false), leave(t, in, "b", true)
	lives := filepath.Base(running(t, in, "b").Dir())
	o := Options{Dirs: []string{in}, Place: placeIn(t, out), Jobs: 2}
	h := newHarvester(o)
	for range 2 {
		if err := h.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{a + ".gprof", b + ".gprof"}
	slices.Sort(want)
	if got, sum := saved(t, out), h.Sum(); !slices.Equal(got, want) || sum.Saved != 2 || sum.Present != 0 || sum.Live != 1 || sum.Left != 0 || sum.Bytes == 0 {
		t.Errorf("%q, %+v\n%s", got, sum, h.said())
	}
	for _, instance := range []string{a, b} {
		if n := markersIn(t, out, instance); n != 2000 {
			t.Errorf("%d markers", n)
		}
	}
	o.Dirs, o.All = []string{filepath.Join(in, "a"), filepath.Join(in, "b")}, true // the sessions by themselves
	h = newHarvester(o)
	if err := h.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, sum := saved(t, out), h.Sum(); len(got) != 3 || !slices.Contains(got, c+".gprof") || slices.Contains(got, lives+".gprof") || sum.Saved != 1 || sum.Present != 2 {
		t.Errorf("%q, %+v\n%s", got, sum, h.said())
	}
}

// What triggers keep is saved once, under its own name, while the process goes on. It is removed when the place has it.
func TestKept(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	rec, file := keeping(t, in, "s")
	link(t, filepath.Join(rec.Session(), kept.DirName, "x"+file), "/etc/passwd")
	link(t, filepath.Join(rec.Session(), kept.DirName, "20260102T030405.000000000Z-0000000000000007-69b74ae0.gprof"), "/etc/passwd")
	o := Options{Dirs: []string{in}, Place: placeIn(t, out)}
	h := newHarvester(o)
	for range 2 {
		if err := h.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got, sum := saved(t, out), h.Sum(); !slices.Equal(got, []string{file}) || sum.Saved != 1 || sum.Live != 1 || sum.Unreadable != 0 || !strings.Contains(h.said(), "kept by a trigger") {
		t.Errorf("%q, %+v\n%s", got, sum, h.said())
	}
	if n := markersOf(t, filepath.Join(out, "s", file[:4]+"-"+file[4:6]+"-"+file[6:8], file), filepath.Base(rec.Dir())); n < 2000 {
		t.Errorf("%d markers", n)
	}
	o.Remove = true
	h = newHarvester(o)
	if err := h.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files, err := kept.List(rec.Session()); len(files) > 0 || err != nil || h.Sum().Present != 1 || h.count(Removed) != 1 {
		t.Errorf("%v, %v, %+v\n%s", files, err, h.Sum(), h.said())
	}
	if _, err := os.Stat(rec.Dir()); err != nil {
		t.Error(err)
	}
}

// A kept file that is cut short is saved as far as it goes, and stays; one that makes room meanwhile is told of.
func TestKeptDamaged(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	rec, file := keeping(t, in, "s")
	rec.Stop()
	at := filepath.Join(rec.Session(), kept.DirName, file)
	info, err := os.Stat(at)
	if err != nil || os.Truncate(at, info.Size()-1) != nil {
		t.Fatal(err)
	}
	_, gone := keeping(t, in, "t")
	full := true
	m := &meddler{Place: placeIn(t, out), before: func(string, io.Writer) error {
		if full {
			return syscall.ENOSPC
		}
		return nil
	}}
	h := newHarvester(Options{Dirs: []string{in}, Place: m, Remove: true})
	if err := h.Pass(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(in, "t", kept.DirName, gone)); err != nil {
		t.Fatal(err)
	}
	full = false
	if err := h.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, sum := saved(t, out), h.Sum(); !slices.Equal(got, []string{file}) || sum.Saved != 1 || sum.Gone != 1 || h.count(Incomplete) != 1 || h.count(Kept) != 1 {
		t.Errorf("%q, %+v\n%s", got, sum, h.said())
	}
	if _, err := os.Stat(at); err != nil {
		t.Error(err)
	}
}

// A recording is removed only if the place has the same file, whole.
func TestRemove(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	before, cut, odd, now := leave(t, in, "s", false), leave(t, in, "s", false), leave(t, in, "s", false), leave(t, in, "s", false)
	o := Options{Dirs: []string{filepath.Join(in, "first")}, Place: placeIn(t, out)}
	for _, instance := range []string{before, cut} {
		move(t, filepath.Join(in, "s", instance), filepath.Join(in, "first", instance))
	}
	if err := newHarvester(o).Pass(t.Context()); err != nil { // which was killed before it could remove anything
		t.Fatal(err)
	}
	if file, err := filepath.Glob(filepath.Join(out, "s", "*", cut+".gprof")); err != nil || len(file) != 1 || os.Truncate(file[0], 100) != nil {
		t.Fatal(file, err)
	}
	link(t, filepath.Join(in, "s", odd, "dict-777"), "/etc/passwd")
	lives := filepath.Base(running(t, in, "s").Dir())

	o.Dirs, o.Remove = []string{in}, true
	h := newHarvester(o)
	if err := h.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h.count(Removed) != 2 || h.count(Kept) != 2 || h.count(Incomplete) != 1 || !strings.Contains(h.said(), "is of another size: 100 B") {
		t.Errorf("%s", h.said())
	}
	for instance, stays := range map[string]bool{"first/" + before: false, "first/" + cut: true, "s/" + odd: true, "s/" + now: false, "s/" + lives: true} {
		if _, err := os.Stat(filepath.Join(in, instance)); (err == nil) != stays {
			t.Errorf("%s: %v, is to stay: %v", instance, err, stays)
		}
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(from, to)); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, name, to string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

// meddler is a place that something happens to before it takes a file.
type meddler struct {
	store.Place
	before func(name string, w io.Writer) error
}

func (m *meddler) Stream(ctx context.Context, name string, write func(io.Writer) error) error {
	return m.Place.Stream(ctx, name, func(w io.Writer) error {
		if err := m.before(name, w); err != nil {
			return err
		}
		return write(&meddling{m, name, w})
	})
}

// meddling passes on what is written, after the meddler.
type meddling struct {
	m    *meddler
	name string
	w    io.Writer
}

func (m *meddling) Write(b []byte) (int, error) {
	if err := m.m.before(m.name, m.w); err != nil {
		return 0, err
	}
	return m.w.Write(b)
}

// A session that makes room while a recording is packed is read again from the beginning: the file has
// no hole that nobody accounts for.
func TestRoomIsMadeMeanwhile(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	instance := leave(t, in, "s", false)
	dir := filepath.Join(in, "s", instance)
	calls := 0
	m := &meddler{Place: placeIn(t, out), before: func(string, io.Writer) error {
		if calls++; calls == 4 { // indexes, meta and exit are written
			discardTwo(t, dir)
		}
		return nil
	}}
	h := newHarvester(Options{Dirs: []string{in}, Place: m})
	if err := h.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := markersIn(t, out, instance); n == 0 || n >= 2000 || h.count(Saved) != 1 || h.count(Incomplete) != 0 {
		t.Errorf("%d markers\n%s", n, h.said())
	}
}

// discardTwo discards the first chunks as a session does: it says so, and then removes the files.
func discardTwo(t *testing.T, dir string) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	if err != nil || len(p.Chunks) < 3 {
		t.Fatalf("%d chunks, %v", len(p.Chunks), err)
	}
	last := p.LastCommit()
	x := chunks.Exit{Realtime: last.Realtime, Monotonic: last.Monotonic, Reason: rawformat.ExitUnknown, RangeStart: p.Chunks[2].Header.RangeStart, Discarded: 2}
	for _, im := range p.Chunks {
		x.RangeEnd = max(x.RangeEnd, im.End())
	}
	err = x.Write(folder.Dir(dir), rawformat.RecordHeader{Instance: p.Instance, Pid: p.Pid})
	if err := errors.Join(err, os.Remove(filepath.Join(dir, p.Chunks[0].Name)), os.Remove(filepath.Join(dir, p.Chunks[1].Name))); err != nil {
		t.Fatal(err)
	}
}

// A place that fails is told of once, and harms nothing: what is left is saved when it works. What made
// way meanwhile is told.
func TestPlaceFails(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	leave(t, in, "s", false)
	leave(t, in, "s", false)
	gone := leave(t, in, "s", false)
	full := true
	m := &meddler{Place: placeIn(t, out), before: func(string, io.Writer) error {
		if full {
			return syscall.ENOSPC
		}
		return nil
	}}
	h := newHarvester(Options{Dirs: []string{in}, Place: m})
	for range 3 {
		if err := h.Pass(t.Context()); !errors.Is(err, syscall.ENOSPC) || h.Sum().Left != 3 {
			t.Errorf("%v, %+v", err, h.Sum())
		}
	}
	if got := saved(t, out); len(got) != 0 || len(h.events) != 1 || h.count(Unreachable) != 1 {
		t.Errorf("%q\n%s", got, h.said())
	}
	full = false
	if err := os.RemoveAll(filepath.Join(in, "s", gone)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := h.Pass(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if got, sum := saved(t, out), h.Sum(); len(got) != 2 || sum.Saved != 2 || sum.Gone != 1 || sum.Left != 0 || h.count(Reachable) != 1 {
		t.Errorf("%q, %+v\n%s", got, sum, h.said())
	}
}

// The word that something made way is told if it was not saved before.
func TestMadeWay(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	a, b := leave(t, in, "s", false), leave(t, in, "s", false)
	o := Options{Dirs: []string{in}, Place: placeIn(t, out)}
	move(t, filepath.Join(in, "s", b), filepath.Join(in, b))
	o.Dirs = []string{filepath.Join(in, "s")}
	if err := newHarvester(o).Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(in, "s", a), filepath.Join(in, b)} {
		entomb(t, dir)
	}
	o.Dirs = []string{in}
	h := newHarvester(o)
	if err := h.Pass(t.Context()); err != nil || h.Sum().Gone != 1 || len(h.events) != 1 || !strings.Contains(h.said(), b) {
		t.Errorf("%v, %+v\n%s", err, h.Sum(), h.said())
	}
}

// entomb leaves of a process what a session does when the last chunk has made way.
func entomb(t *testing.T, dir string) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	x := chunks.Exit{Realtime: p.LastCommit().Realtime, Reason: rawformat.ExitUnknown, Discarded: 2}
	for _, im := range p.Chunks {
		x.RangeEnd = max(x.RangeEnd, im.End())
	}
	x.RangeStart = x.RangeEnd
	if err := x.Write(folder.Dir(dir), rawformat.RecordHeader{Instance: p.Instance, Pid: p.Pid}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != chunks.MetaName && e.Name() != chunks.ExitName {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Whoever may write where recordings lie gets nothing else of this machine into the place, nothing
// outside of it is written, and nothing waits for a pipe.
func TestHostileSession(t *testing.T) {
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	elsewhere := t.TempDir()
	outside := leave(t, elsewhere, "secret", false)
	bad := leave(t, in, "s", false)
	link(t, filepath.Join(in, "s", outside), filepath.Join(elsewhere, "secret", outside))
	link(t, filepath.Join(in, "session"), filepath.Join(elsewhere, "secret"))
	link(t, filepath.Join(in, "s", bad, "chunk-00099"), filepath.Join(elsewhere, "secret", outside, "chunk-00000"))
	for name, make := range map[string]func(string) error{
		"0000000000000001/meta":         func(f string) error { return syscall.Mkfifo(f, 0o600) },
		"0000000000000001/lock":         func(f string) error { return os.WriteFile(f, nil, 0o600) },
		"0000000000000002/lock":         func(f string) error { return os.WriteFile(f, nil, 0o600) },
		"0000000000000002/chunk-00000":  func(f string) error { return os.WriteFile(f, make([]byte, 100_000), 0o600) },
		"0000000000000003/chunk-00000":  func(f string) error { return os.Mkdir(f, 0o700) },
		"0000000000000004/\x1b[2J\nzz":  func(f string) error { return os.WriteFile(f, nil, 0o600) },
		"0000000000000000/meta":         func(f string) error { return os.WriteFile(f, []byte("gprM"), 0o600) },
		"not/an/instance/at/all/really": func(f string) error { return os.WriteFile(f, nil, 0o600) },
	} {
		file := filepath.Join(in, "s", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), make(file)); err != nil {
			t.Fatal(err)
		}
	}
	h := newHarvester(Options{Dirs: []string{in}, Place: placeIn(t, out), All: true})
	if err := h.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := saved(t, out); !slices.Contains(got, bad+".gprof") || slices.Contains(got, outside+".gprof") {
		t.Errorf("%q\n%s", got, h.said())
	}
	if !strings.Contains(h.said(), "chunk-00099") || !strings.Contains(h.said(), "no regular file") {
		t.Errorf("%s", h.said())
	}
	err := filepath.WalkDir(filepath.Dir(out), func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(file, ".gprof") {
			t.Errorf("written: %s", file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A name that a program has chosen is one part of a path.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"checkout": "checkout", "../../etc": "_.._etc", "": "unnamed", "...": "unnamed", "a b/c\\d\x00": "a_b_c_d_", "-rf": "rf", "größe": "gr__e", strings.Repeat("x", 300): strings.Repeat("x", 100),
	} {
		if got := plain(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	p := process{service: "s", instance: 0xabc}
	if got := p.name(); got != "s/undated/0000000000000abc.gprof" {
		t.Error(got)
	}
	p.ended = time.Unix(0, 1_700_000_000_000_000_000).UTC()
	if got := p.name(); got != "s/2023-11-14/0000000000000abc.gprof" {
		t.Error(got)
	}
}

// At the end what has just died is saved, too; a place that does not answer is not waited for longer
// than was said.
func TestWatchEnds(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	leave(t, in, "s", false)
	stop, end := context.WithCancel(t.Context())
	h := newHarvester(Options{Dirs: []string{in}, Place: placeIn(t, out), Settle: time.Hour})
	time.AfterFunc(50*time.Millisecond, end)
	if err := h.Watch(stop, time.Millisecond, time.Minute); err != nil || len(saved(t, out)) != 1 {
		t.Errorf("%v\n%s", err, h.said())
	}
	in = t.TempDir()
	leave(t, in, "s", false)
	silent := &meddler{Place: placeIn(t, out), before: func(string, io.Writer) error { time.Sleep(time.Millisecond); return context.DeadlineExceeded }}
	h = newHarvester(Options{Dirs: []string{in}, Place: silent})
	if err := h.Watch(stop, time.Millisecond, 10*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) || h.Sum().Left != 1 {
		t.Errorf("%v, %+v\n%s", err, h.Sum(), h.said())
	}
}

// The limit spreads bytes over time, and does not keep anybody from ending.
func TestLimiter(t *testing.T) {
	l := &limiter{rate: 1000}
	begun := time.Now()
	if err := l.wait(t.Context(), 5000); err != nil {
		t.Error(err)
	}
	if at := l.next.Sub(begun); at < 5*time.Second || at > time.Minute {
		t.Errorf("the next byte may come after %v", at)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := l.wait(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
