//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"os"
	"slices"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/shard"
)

// Calls that are remembered have the frames that they have when all of a stack is resolved
// at once, whatever stack they were in before: also after a panic, whose caller may be a
// function that the compiler made, which is left out elsewhere.
func TestRememberedFrames(t *testing.T) {
	h, _ := host(t)
	s := &Sampler{host: h}
	stacks := [][]uintptr{walked(t), walkedByPanic(t), append([]uintptr{1 << 20}, walked(t)...)}
	stacks = append(stacks, append(slices.Clone(stacks[0][:2]), append([]uintptr{rawformat.StackLabel | 1<<30}, stacks[1]...)...))
	wrappers := 0
	for round := range 3 {
		for i, calls := range stacks {
			want := pcsIn(places(calls))
			for range 2 {
				leafFirst, made := s.placed.stack(calls)
				wrappers += len(made)
				if got := pcsIn(leafFirst); !slices.Equal(got, want) {
					t.Fatalf("round %d, stack %d: %x, want %x", round, i, got, want)
				}
				if s.host.Dict.Stack(leafFirst) == 0 {
					t.Fatalf("round %d, stack %d has no id", round, i)
				}
				s.placed.remember()
			}
		}
	}
	if leafFirst, _ := s.placed.stack(stacks[0]); wrappers == 0 || !slices.ContainsFunc(leafFirst, func(l dict.Frame) bool { return l.Known }) {
		t.Errorf("%d wrappers, %v", wrappers, leafFirst)
	}
}

// In a new generation of the dictionary what is remembered is defined again.
func TestRememberedFramesBeginAnew(t *testing.T) {
	h, dir := host(t)
	s := &Sampler{host: h}
	calls := walked(t)
	intern := func(pc uintptr) {
		t.Helper()
		rec := rawformat.StackRecord{PC: uint64(pc)}
		for _, call := range calls[1:] {
			rec.Returns = append(rec.Returns, uint64(call))
		}
		if field, _ := s.intern(&rec); field < 2 {
			t.Fatalf("the stack has no id: %d", field)
		}
	}
	intern(calls[0] - 1)
	next, err := chunks.CreateDict(h.Files, h.Recording.Instance(), 2, uint32(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Dict.Turn(next, nil); err != nil {
		t.Fatal(err)
	}
	h.Recording.BeginGeneration(2)
	if err := chunks.RemoveDict(h.Files, 1); err != nil {
		t.Fatal(err)
	}
	intern(calls[0])
	if !isNamed(t, dir, "runtime.goexit") {
		t.Error("the root has no name in the new file")
	}
}

func pcsIn(leafFirst []dict.Frame) (pcs []uint64) {
	for _, l := range leafFirst {
		pcs = append(pcs, l.PC, uint64(l.Label))
	}
	return pcs
}

// walked is a stack with a wrapper in it.
func walked(t *testing.T) []uintptr {
	t.Helper()
	c := make(chan []uintptr)
	go walkInto(c)
	return <-c
}

// walkedByPanic is a stack of a method that was called by a nil pointer: through a wrapper,
// which panics.
func walkedByPanic(t *testing.T) []uintptr {
	t.Helper()
	c := make(chan []uintptr, 1)
	func() {
		defer func() { recover() }()
		defer walkInto(c)
		callMethod((*valued)(nil))
	}()
	return <-c
}

//go:noinline
func callMethod(m interface{ method() }) { m.method() }

type valued struct{ n [shard.MaxDepth]int }

func (v valued) method() { v.n[0]++ }
