package recorder_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// memoryChild, whose environment has it record in memory, makes markers before and after Start,
// takes a snapshot into a directory, and stops.
func memoryChild() {
	recorder.StartEarly()
	event := recorder.NewEvent1("in memory", recorder.Int("n"))
	var rec *recorder.Recorder
	n := 0
	mark := func(many int) {
		for range many {
			if rec == nil {
				event.Mark(n)
			} else {
				insist(rec, func() { event.Mark(n) })
			}
			n++
		}
	}
	mark(100)
	var err error
	rec, err = recorder.Start(recorder.Options{Service: "memory", Limit: 8 << 20})
	if err != nil {
		panic(err)
	}
	if rec.Dir() != "" || rec.Session() != "" || os.Getenv(recorder.EnvSession) != "" {
		panic("it lies somewhere")
	}
	mark(1000)
	rec.Pause()
	event.Mark(-1)
	rec.Resume()
	mark(1000)
	path, err := rec.Snapshot(os.Args[1], 0)
	if err != nil {
		panic(err)
	}
	fmt.Println(path)
	mark(1000)
	if err := rec.Stop(); err != nil {
		panic(err)
	}
	if _, err := chunks.OpenProcess(rec.Files(), "."); err == nil {
		panic("memory is not given back")
	}
	fmt.Println(n)
}

// A recording in memory is copied by a snapshot and by Stop. The copies are recordings like any
// other, and there are no files anywhere else.
func TestInMemory(t *testing.T) {
	home, to := t.TempDir(), t.TempDir()
	cmd := child("memory", []string{filepath.Join(to, "snapshots")}, recorder.EnvDir+"="+recorder.DirInMemory, "GPROF_DUMP="+to, "HOME="+home, "XDG_STATE_HOME="+home)
	cmd.Dir = home
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	snapshot, last := line(t, lines), line(t, lines)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if last != "3100" {
		t.Errorf("the program says %q, want 3100 markers", last)
	}
	wantNumbers(t, snapshot, 2100)
	r := wantNumbers(t, filepath.Join(to, "memory"), 3100)
	if r.Exit == nil || r.Exit.Reason != rawformat.ExitStopped || r.meta(rawformat.MetaService) != "memory" {
		t.Errorf("exit %+v, service %q", r.Exit, r.meta(rawformat.MetaService))
	}
	if session, err := (recorder.Options{Dir: recorder.DirInMemory}).Session(); err == nil {
		t.Errorf("a recording in memory has the directory %s", session)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("%v lies in the home directory, %v", left, err)
	}
}

// wantNumbers checks that the only process of a session has the markers from 0 on, once each and
// in order.
func wantNumbers(t *testing.T, session string, many int) *recording {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(session, "????????????????"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%v, %v: want one process", dirs, err)
	}
	r := read(t, dirs[0], chunks.Unproven)
	found := r.of("in memory")
	if len(found) != many {
		t.Fatalf("%d markers, want %d", len(found), many)
	}
	for i, e := range found {
		if n := e.args[0].Num; n != uint64(i) {
			t.Fatalf("marker %d has the number %d", i, n)
		}
	}
	return r
}

// A ring in memory keeps within its limit by discarding the oldest chunks.
func TestInMemoryLimit(t *testing.T) {
	rec := begin(t, recorder.Options{Dir: recorder.DirInMemory, Limit: 1 << 20})
	for n := range 200_000 {
		acked.Mark(n, "abc")
	}
	waitFor(t, "chunks that made way", func() bool { return rec.Stats().Discarded > 0 && rec.Stats().Held <= 1<<20 })
	p, err := chunks.OpenProcess(rec.Files(), ".")
	if err != nil || len(p.Chunks) == 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, problem := range p.Problems {
		if problem.Class != chunks.Stale { // the keeper may still be discarding chunks
			t.Errorf("problem: %v", problem)
		}
	}
}

var steps = recorder.NewEvent1("steps", recorder.Int("way"), recorder.WithStack())

// goWay marks at the end of a way of left and right steps, which a number describes.
//
//go:noinline
func goWay(steps, way, all int) {
	if steps == 0 {
		markWay(all)
		return
	}
	if way&1 == 0 {
		stepLeft(steps-1, way>>1, all)
	} else {
		stepRight(steps-1, way>>1, all)
	}
}

//go:noinline
func stepLeft(steps, way, all int) { goWay(steps, way, all) }

//go:noinline
func stepRight(steps, way, all int) { goWay(steps, way, all) }

//go:noinline
func markWay(all int) { steps.Mark(all) }

// With more stacks than a dictionary has room for, new dictionaries begin in memory, too,
// and what is left of the recording reads without a problem.
func TestInMemoryGenerations(t *testing.T) {
	rec := begin(t, recorder.Options{Dir: recorder.DirInMemory, Limit: 1 << 20, CPU: recorder.CPUOff, HeapEvery: -1})
	way := 0
	var p *chunks.Process
	waitFor(t, "a third dictionary", func() bool {
		for range 64 {
			goWay(20, way, way)
			way++
		}
		var err error
		if p, err = chunks.OpenProcess(rec.Files(), "."); err != nil {
			t.Fatal(err)
		}
		return len(p.Dicts) > 0 && p.Dicts[len(p.Dicts)-1].Generation >= 3
	})
	if n := len(p.Dicts); n > 2 {
		t.Errorf("%d dictionaries lie in memory, want the last two", n)
	}
	dir, err := rec.Snapshot(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if r := read(t, names[0], chunks.Unproven, chunks.Stale); len(r.of("steps")) == 0 {
		t.Error("no markers")
	}
}

// Processes that record in memory don't know of each other, but their copies lie in one
// session.
func TestInMemoryProcesses(t *testing.T) {
	to := t.TempDir()
	for range 2 {
		cmd := child("memory", []string{t.TempDir()}, recorder.EnvDir+"="+recorder.DirInMemory, "GPROF_DUMP="+to)
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(to, "memory", "????????????????"))
	if err != nil || len(dirs) != 2 {
		t.Fatalf("%v, %v: want two processes", dirs, err)
	}
	for _, dir := range dirs {
		if n := len(read(t, dir, chunks.Unproven).of("in memory")); n != 3100 {
			t.Errorf("%d markers, want 3100", n)
		}
	}
}
