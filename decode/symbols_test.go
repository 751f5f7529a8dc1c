package decode_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gprof/decode"
	"gprof/fixtures"
	"gprof/stream"
)

// sharing records processes of one binary in a session. Each samples all of its
// frames, and names those that it had the time for.
func sharing(t *testing.T, named ...[]int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	const frames = 3
	for i, names := range named {
		r, err := fixtures.New(dir, fixtures.Options{Instance: uint64(i + 1), Pid: uint32(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		lines := []string{`def-module id=1 path="/bin/prog" build="abc" start=4096 end=8192 offset=0`}
		for f := range frames {
			id := f + i + 1 // another one in each process
			lines = append(lines, fmt.Sprintf("def-frame id=%d module=1 offset=%d", id, f),
				fmt.Sprintf("def-stack id=%d parent=0 frame=%d", id, id))
			if slices.Contains(names, f) {
				lines = append(lines, fmt.Sprintf("def-string id=%d text=\"f%d of %d\"", id, f, i), fmt.Sprintf("def-symbol frame=%d depth=0 function=%d file=0 line=%d", id, id, i))
			}
		}
		if err := r.Define(lines...); err != nil {
			t.Fatal(err)
		}
		for f := range frames {
			if err := r.Lines(fmt.Sprintf("sample time=+1 thread=1 goroutine=1 track=0 stack=%d weight=1 cpu=0 window=0", f+i+2)); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A function that one process names is named for all, wherever that process
// stands; of several names the first process' counts, by any number of jobs.
func TestSymbolsAreShared(t *testing.T) {
	for _, c := range []struct {
		named [][]int
		want  []string // the function of each frame; "" for none
	}{
		{[][]int{{0, 1, 2}, {}}, []string{"f0 of 0", "f1 of 0", "f2 of 0"}},
		{[][]int{{}, {0, 1, 2}}, []string{"f0 of 1", "f1 of 1", "f2 of 1"}},
		{[][]int{{1}, {0}, {}, {0, 1, 2}}, []string{"f0 of 1", "f1 of 0", "f2 of 3"}},
		{[][]int{{0, 1, 2}, {0, 1, 2}, {0}}, []string{"f0 of 0", "f1 of 0", "f2 of 0"}},
		{[][]int{{}, {2}, {}}, []string{"", "", "f2 of 1"}},
	} {
		dir := sharing(t, c.named...)
		for _, jobs := range []int{1, 4} {
			tables, inputs := openAll(t, os.DirFS(dir))
			var count stream.Count
			if err := stream.Copy(&count, decode.New(tables, inputs, decode.Options{Jobs: jobs}), stream.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			got := make([]string, 3)
			for id := stream.FrameID(1); int(id) <= count.Tables.Frames.Len(); id++ {
				f := count.Tables.Frames.At(id)
				got[f.Offset] = count.Tables.Strings.At(f.Function)
			}
			if !slices.Equal(got, c.want) || count.Tables.Frames.Len() != 3 {
				t.Errorf("named %v, %d jobs: %q, want %q", c.named, jobs, got, c.want)
			}
		}
	}
}

// A process that was killed before it defined a frame has only the address in its chunks. It gets
// the name that others have for it, and takes it away from none.
func TestSymbolsOfRawStacks(t *testing.T) {
	for _, first := range []bool{true, false} {
		dir := t.TempDir()
		for i := range 2 {
			r, err := fixtures.New(dir, fixtures.Options{Instance: uint64(i + 1), Pid: uint32(i + 1)})
			if err != nil {
				t.Fatal(err)
			}
			lines := []string{`def-module id=1 path="/bin/prog" build="abc" start=4096 end=8192 offset=0`}
			samples := []string{"stack pcs=[4196]", "sample time=+1 thread=1 goroutine=1 track=0 stack=1 weight=1 cpu=0 window=0"}
			if named := (i == 0) == first; named {
				lines = append(lines, "def-frame id=1 module=1 offset=100", "def-stack id=1 parent=0 frame=1", `def-string id=1 text="f"`, "def-symbol frame=1 depth=0 function=1 file=0 line=7")
				samples = []string{"sample time=+1 thread=1 goroutine=1 track=0 stack=2 weight=1 cpu=0 window=0"}
			}
			if err := r.Define(lines...); err != nil {
				t.Fatal(err)
			}
			if err := r.Lines(samples...); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for _, jobs := range []int{1, 4} {
			tables, inputs := openAll(t, os.DirFS(dir))
			var count stream.Count
			if err := stream.Copy(&count, decode.New(tables, inputs, decode.Options{Jobs: jobs}), stream.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			if at := count.Tables; at.Stacks.Len() != 1 || at.Frames.Len() != 1 || at.Strings.At(at.Frames.At(1).Function) != "f" {
				t.Errorf("named first: %v, %d jobs: %d stacks, %d frames, %+v", first, jobs, at.Stacks.Len(), at.Frames.Len(), at.Frames.At(1))
			}
		}
	}
}

// Definitions that no recorder writes: stacks before their parents, in a circle,
// deeper than can be, of frames that are missing, with ids far apart.
func TestOddStacks(t *testing.T) {
	var dict, blocks []string
	define := func(line string, args ...any) { dict = append(dict, fmt.Sprintf(line, args...)) }
	sample := func(stack uint64) {
		blocks = append(blocks, fmt.Sprintf("sample time=+1 thread=1 goroutine=1 track=0 stack=%d weight=1 cpu=0 window=0", stack+1))
	}
	define("def-frame id=1 module=0 offset=7")
	define("def-stack id=2 parent=3 frame=1") // 2 -> 3 -> 4, defined leaf first
	define("def-stack id=3 parent=4 frame=1")
	define("def-stack id=4 parent=0 frame=1")
	define("def-stack id=5 parent=6 frame=1") // a circle
	define("def-stack id=6 parent=5 frame=1")
	define("def-stack id=7 parent=0 frame=9")        // no such frame
	define("def-stack id=8 parent=7 frame=1")        // so this neither
	define("def-stack id=60000000 parent=4 frame=1") // far away
	define("def-stack id=60000001 parent=60000000 frame=1")
	for i := range 1100 { // 1,024 frames are allowed
		define("def-stack id=%d parent=%d frame=1", 10+i, max(9+i, 9)*min(i, 1))
	}
	for _, id := range []uint64{2, 60_000_001, 10 + 1023} {
		sample(id)
	}
	good := len(blocks)
	for _, id := range []uint64{5, 6, 7, 8, 9, 10 + 1024, 10 + 1099} {
		sample(id)
	}
	events, ledger := decodeLines(t, dict, blocks)
	if want := fmt.Sprintf("undefined stacks  count=%d", len(blocks)-good); !bytes.Contains(ledger, []byte(want)) {
		t.Errorf("ledger:\n%s\nwant %s", ledger, want)
	}
	if n := strings.Count(string(events), " weight 1 "); n != len(blocks) {
		t.Errorf("%d samples, want %d", n, len(blocks))
	}
}
