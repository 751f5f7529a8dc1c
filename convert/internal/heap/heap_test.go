package heap_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/heap"
	"gprof/stream"
)

// op is what was allocated or freed at a site. Its time is its place in the list.
type op struct {
	stack   stream.StackID
	bytes   int64
	objects int64
	address int64
}

// laid is what a heap makes of ops.
func laid(t *testing.T, h *heap.Heap, ops []op) (rows []heap.Row, addressed bool) {
	t.Helper()
	b := stream.Batch{Series: stream.Series{Process: 1, Track: 1, Kind: stream.Allocations}}
	for i, o := range ops {
		b.Time, b.Index = append(b.Time, stream.Time(i)), append(b.Index, uint64(i+1))
		b.Stack, b.Value, b.Number = append(b.Stack, o.stack), append(b.Value, o.bytes), append(b.Number, o.objects)
		b.AppendAddress(o.address)
	}
	h.Add(&b)
	addressed, _ = h.Addressed()
	if h.Rows(func(r *heap.Row) { rows = append(rows, *r) }); h.Err() != nil {
		t.Fatal(h.Err())
	}
	if !h.Empty() {
		t.Error("the heap is not empty after its rows")
	}
	return rows, addressed
}

// retained is what the viewer shows as retained by each stack in a range of time: it looks at the
// rows of the range only, and at nothing but addresses.
func retained(rows []heap.Row, from, to stream.Time) map[stream.StackID]int64 {
	live := map[int64]heap.Row{}
	for _, r := range rows {
		switch {
		case r.Time < from || r.Time >= to:
		case r.Bytes < 0:
			delete(live, r.Address)
		default:
			live[r.Address] = r
		}
	}
	sums := map[stream.StackID]int64{}
	for _, r := range live {
		sums[r.Stack] += r.Bytes
	}
	return sums
}

// growth is by how much each site is larger at the end of a range than at its lowest there.
func growth(ops []op, from, to stream.Time) map[stream.StackID]int64 {
	level, lowest := map[stream.StackID]int64{}, map[stream.StackID]int64{}
	for _, o := range ops[from:to] {
		level[o.stack] += o.bytes
		lowest[o.stack] = min(lowest[o.stack], level[o.stack])
	}
	sums := map[stream.StackID]int64{}
	for stack, n := range level {
		if n > lowest[stack] {
			sums[stack] = n - lowest[stack]
		}
	}
	return sums
}

// A viewer that knows nothing but addresses finds what sites retain, in all and in any range of
// time. Nothing is added to what is allocated or freed at any time, and no address is given twice
// at a time.
func TestRetained(t *testing.T) {
	h := heap.New(t.TempDir())
	defer h.Close()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var ops []op
		level := map[stream.StackID]int64{}
		for range 1 + r.IntN(60) {
			o := op{stack: stream.StackID(r.IntN(4)), bytes: 1 + r.Int64N(20), objects: 1}
			if r.IntN(2) == 0 {
				o.bytes = -o.bytes
			}
			if level[o.stack]+o.bytes < 0 && seed%2 == 0 {
				o.bytes = -o.bytes
			}
			level[o.stack] += o.bytes
			ops = append(ops, o)
		}
		rows, addressed := laid(t, h, ops)
		if !addressed {
			t.Fatal("rows have no address")
		}
		checkSums(t, ops, rows)
		end := stream.Time(len(ops))
		for from := range end {
			if diff := cmp.Diff(growth(ops, from, end), retained(rows, from, end)); diff != "" {
				t.Fatalf("seed %d, from %d: %v\n%v\n%s", seed, from, ops, rows, diff)
			}
		}
		to := stream.Time(r.Int64N(int64(end)) + 1)
		if diff := cmp.Diff(growth(ops, 0, to), retained(rows, 0, to)); diff != "" {
			t.Fatalf("seed %d, to %d: %v\n%v\n%s", seed, to, ops, rows, diff)
		}
	}
}

// checkSums wants that pieces add up to what they are of, and that memory is not allocated twice.
func checkSums(t *testing.T, ops []op, rows []heap.Row) {
	t.Helper()
	live, last := map[int64]bool{}, stream.Time(0)
	sums := make([]op, len(ops))
	for _, r := range rows {
		o := &sums[r.Time]
		o.stack, o.objects, o.bytes = r.Stack, 1, o.bytes+r.Bytes
		if r.Time < last || r.Address >= 0 || (r.Bytes < 0) != (ops[r.Time].bytes < 0) || r.Bytes > 0 && live[r.Address] {
			t.Fatalf("%+v", r)
		}
		last, live[r.Address] = r.Time, r.Bytes > 0
	}
	if diff := cmp.Diff(fmt.Sprint(ops), fmt.Sprint(sums)); diff != "" {
		t.Fatal(diff)
	}
}

// Addresses that are known stay. Where one is not known and can't be made up, because it is of a
// single operation whose stack says nothing of others, there are none.
func TestKnownAddresses(t *testing.T) {
	h := heap.New(t.TempDir())
	defer h.Close()
	ops := []op{{1, 10, 0, 100}, {2, 7, 1, 0}, {3, -10, 0, 100}, {2, -7, 1, 0}, {4, 0, 3, 0}}
	rows, addressed := laid(t, h, ops)
	var addresses []int64
	for _, r := range rows {
		addresses = append(addresses, r.Address)
	}
	if want := []int64{100, -1, 100, -1, 0}; !addressed || !cmp.Equal(addresses, want) {
		t.Errorf("addresses %v, %v, want %v", addresses, addressed, want)
	}
	if _, addressed := laid(t, h, append(ops, op{1, -5, 0, 0})); addressed {
		t.Error("a row without an address has one")
	}
	if _, addressed := laid(t, h, ops); !addressed {
		t.Error("an emptied heap remembers rows")
	}
}

// Numbers that no viewer holds exactly are not made up, and sums of hostile ones do not overflow.
func TestHuge(t *testing.T) {
	h := heap.New(t.TempDir())
	defer h.Close()
	const huge = 1 << 62
	ops := []op{{1, huge, 1, 0}, {1, huge, 1, 0}, {1, -huge, 1, 0}, {1, -huge - huge, 1, 0}}
	rows, addressed := laid(t, h, ops)
	if addressed || len(rows) != len(ops) {
		t.Errorf("%v, %v", rows, addressed)
	}
}

// What does not fit into memory is kept in a file, and its error is told.
func TestMany(t *testing.T) {
	dir := t.TempDir()
	h := heap.New(dir)
	defer h.Close()
	const n = 200_000
	var ops []op
	for i := range n {
		ops = append(ops, op{stream.StackID(i%1000 + 1), 1, 1, 0}, op{stream.StackID(i%700 + 1), -1, 1, 0})
	}
	rows, _ := laid(t, h, ops)
	if diff := cmp.Diff(growth(ops, 0, 2*n), retained(rows, 0, 2*n)); len(rows) != 2*n || diff != "" {
		t.Errorf("%d rows: %s", len(rows), diff)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	broken := heap.New(dir + "/missing")
	for range n {
		b := stream.Batch{Time: make([]stream.Time, 1000), Stack: make([]stream.StackID, 1000), Value: make([]int64, 1000), Number: make([]int64, 1000)}
		if broken.Add(&b); broken.Err() != nil {
			break
		}
	}
	broken.Rows(func(*heap.Row) {})
	if broken.Err() == nil || broken.Close() == nil {
		t.Error("writing to a missing directory succeeds")
	}
}
