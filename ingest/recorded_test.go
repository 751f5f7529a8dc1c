package ingest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gprof/recorder"
	"gprof/stream"
)

const sessionChild = "INGEST_TEST_CHILD"

var lap = recorder.NewEvent1("lap", recorder.Int("n"))

// TestSessionChild is the child of TestRecordedExpiry: a program that records a
// little, and ends.
func TestSessionChild(t *testing.T) {
	if os.Getenv(sessionChild) == "" {
		return
	}
	rec, err := recorder.Start(recorder.Options{CounterHz: -1})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		lap.Mark(n)
	}
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
}

// A child of a real recorder is there until its parent has given up the index at
// which it ended, and not any longer, in its session as in a copy of it.
func TestRecordedExpiry(t *testing.T) {
	rec, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Limit: 1 << 20, ChunkSize: 64 << 10, CounterHz: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Stop()
	turn(2000) // so that the child does not end at the first index
	cmd := exec.Command(os.Args[0], "-test.run", "^TestSessionChild$")
	cmd.Env = append(os.Environ(), sessionChild+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	copied := copyOf(t, rec.Session())
	if err := os.RemoveAll(filepath.Join(copied, filepath.Base(rec.Dir()))); err != nil {
		t.Fatal(err)
	}
	seen, kept := map[bool]int{}, map[bool]int{}
	for deadline := time.Now().Add(time.Minute); seen[false] == 0 && time.Now().Before(deadline); {
		seen[shownAsItShould(t, rec.Session(), copied)]++
		kept[shownAsItShould(t, rec.Session())]++
		turn(4000)
	}
	for _, times := range []map[bool]int{seen, kept} {
		if times[true] == 0 || times[false] == 0 {
			t.Errorf("the child was there %d times, and gone %d times", times[true], times[false])
		}
	}
}

// copyOf copies a session that is being recorded: a file may get another name, or go, when it was listed.
func copyOf(t *testing.T, session string) string {
	t.Helper()
	for {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(session)); err == nil {
			return dir
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// turn lets the ring of the process go on.
func turn(marks int) {
	for n := range marks {
		lap.Mark(n)
	}
}

// shownAsItShould converts a session that is being recorded, alone or with a copy of it,
// and reports whether the child is there; it fails if the rule says otherwise.
func shownAsItShould(t *testing.T, inputs ...string) bool {
	t.Helper()
	there, parent, child, removed := show(t, inputs...)
	want := child.Exit.ParentIndex >= parent.Held
	if removed && want { // the parent went on after it was read, and removed the child
		there, parent, child, _ = show(t, inputs...)
		want = child.Exit.ParentIndex >= parent.Held
	}
	if there != want {
		t.Fatalf("the child ended at %d, the parent holds what is from %d on; it is there: %v", child.Exit.ParentIndex, parent.Held, there)
	}
	return want
}

// show converts a session, and tells whether the child is there, and whether nothing but its end is left on the disk.
func show(t *testing.T, inputs ...string) (there bool, parent, child *Process, removed bool) {
	t.Helper()
	src, found, err := Open(inputs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var c stream.Count
	if err := stream.Copy(&c, src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, p := range slices.Concat(found.Processes, found.Gone()) {
		if p.Exit == nil {
			parent = p
		} else {
			child = p
		}
	}
	if parent == nil || child == nil || child.Exit.ParentIndex == 0 {
		t.Fatalf("%d processes, the parent among them: %v, the child: %v", len(found.Processes), parent != nil, child != nil)
	}
	return len(c.Tables.Processes) == 2, parent, child, slices.Contains(found.Gone(), child)
}

// passes reports whether a function is in a stack.
func passes(t *stream.Tables, stack stream.StackID, function string) bool {
	for stack != 0 {
		var frame stream.FrameID
		stack, frame = t.Stacks.At(stack)
		if t.Strings.At(t.Frames.At(frame).Function) == function {
			return true
		}
	}
	return false
}
