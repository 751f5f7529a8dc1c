package decode_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/decode"
	"gprof/fixtures"
	"gprof/stream"
)

// frames is how many frames a forest has.
const frames = 7

// forest is stacks of some roots: the parent of each. Some are deeper than can be.
func forest() (parents []int) {
	r := rand.New(rand.NewPCG(1, 1))
	parents = []int{0, 0, 0, 0}
	for id := 4; id < 1500; id++ {
		parent := id - 1
		if r.IntN(4) == 0 {
			parent = 1 + r.IntN(id-1)
		}
		parents = append(parents, parent)
	}
	for range 1050 {
		parents = append(parents, len(parents)-1)
	}
	return parents
}

// recordForest writes a process that samples some stacks of a forest, which it
// defines in this order: each behind its parent. Stacks of seven frames are often equal, and in one of these another function
// is inlined.
func recordForest(t *testing.T, dir string, instance int, parents, order []int) {
	t.Helper()
	r, err := fixtures.New(dir, fixtures.Options{Instance: uint64(instance), Pid: uint32(instance), Limit: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{`def-module id=1 path="/bin/prog" build="abc" start=4096 end=1048576 offset=0`}
	for f := 1; f <= frames; f++ {
		lines = append(lines, fmt.Sprintf("def-frame id=%d module=1 offset=%d", f, f), fmt.Sprintf("def-string id=%d text=\"f%d\"", f, f),
			fmt.Sprintf("def-symbol frame=%d depth=0 function=%d file=0 line=1", f, f))
	}
	lines = append(lines, fmt.Sprintf("def-symbol frame=2 depth=1 function=%d file=0 line=1", frames))
	ids := make([]int, len(parents))
	for i, node := range order {
		ids[node] = i + 1
		lines = append(lines, fmt.Sprintf("def-stack id=%d parent=%d frame=%d", i+1, ids[parents[node]], 1+node*node%frames))
	}
	if err := r.Define(lines...); err != nil {
		t.Fatal(err)
	}
	for _, node := range order {
		if err := r.Lines(fmt.Sprintf("sample time=+1 thread=1 goroutine=1 track=0 stack=%d weight=1 cpu=%d window=0", ids[node]+1, node)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// samplesOf collects the samples of each process: track, CPU time and stack.
type samplesOf struct {
	tables *stream.Tables
	rows   map[stream.ProcessID][]string
}

func (s *samplesOf) Begin(t *stream.Tables) error { s.tables = t; return nil }
func (s *samplesOf) Close() error                 { return nil }
func (s *samplesOf) Segment(b *stream.Batch) error {
	for i, stack := range b.Stack {
		row := fmt.Appendf(nil, "%s %d:", s.tables.Tracks.At(b.Series.Track).Name, b.CPU[i])
		for frame := stream.FrameID(0); stack != 0; {
			stack, frame = s.tables.Stacks.At(stack)
			row = append(row, byte(s.tables.Frames.At(frame).Offset))
		}
		s.rows[b.Series.Process] = append(s.rows[b.Series.Process], string(row))
	}
	return nil
}

// Stacks that a process before defined are the same as if the process was alone,
// whatever the order in which each defines them.
func TestRecognizedStacks(t *testing.T) {
	parents := forest()
	order := make([]int, 0, len(parents))
	for node := 1; node < len(parents); node++ {
		order = append(order, node)
	}
	other := slices.Clone(order) // breadth first: all is far from its parent
	depth := make([]int, len(parents))
	for node := 1; node < len(parents); node++ {
		depth[node] = depth[parents[node]] + 1
	}
	slices.SortStableFunc(other, func(a, b int) int { return depth[a] - depth[b] })
	together, want := t.TempDir(), [][]string{nil}
	for i, o := range [][]int{order[:700], other, order, other[:900], order} {
		recordForest(t, together, i+1, parents, o)
		alone := t.TempDir()
		recordForest(t, alone, i+1, parents, o)
		want = append(want, samplesIn(t, alone)[1])
	}
	got := samplesIn(t, together)
	for id := stream.ProcessID(1); id <= 5; id++ {
		if !slices.Equal(got[id], want[id]) || len(want[id]) < 700 {
			t.Errorf("process %d: samples differ: %s", id, cmp.Diff(want[id], got[id]))
		}
	}
}

// samplesIn are the samples of all processes in a directory, sorted.
func samplesIn(t *testing.T, dir string) map[stream.ProcessID][]string {
	t.Helper()
	tables, inputs := openAll(t, os.DirFS(dir))
	got := samplesOf{rows: map[stream.ProcessID][]string{}}
	if err := stream.Copy(&got, decode.New(tables, inputs, decode.Options{}), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, rows := range got.rows {
		slices.Sort(rows)
	}
	return got.rows
}
