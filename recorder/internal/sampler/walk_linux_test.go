//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/signalcall"
)

// A stack that is made up, for the handler to walk. Words of it, and registers, are
// numbers, or by their upper bits a word's address or that of some code.
type madeUp struct {
	name       string
	pc, sp, fp uintptr
	top        uintptr // where a function without a frame returns to
	words      map[int]uintptr
	want       []uintptr // code
	wantTop    uintptr
}

const (
	addressOf = 0xabcd << 48
	codeAt    = 0xc0de << 48
	tag       = 0xffff << 48
	madeWords = 400
)

// at is the address of a word. Words with even numbers lie at multiples of 16.
func at(word int) uintptr { return addressOf + uintptr(8*word) }

// code is the address of an instruction.
func code(n int) uintptr { return codeAt + uintptr(16*n) }

// meant resolves w to a number, for a stack at base.
func meant(w, base uintptr) uintptr {
	switch w & tag {
	case addressOf:
		return w - addressOf + base
	case codeAt:
		return w - codeAt + sampleLayout.text + 64
	}
	return w
}

// threeFrames is a correct stack.
var threeFrames = map[int]uintptr{4: at(8), 5: code(1), 8: at(12), 9: code(2), 12: 0, 13: code(3)}

func but(words map[int]uintptr, word int, is uintptr) map[int]uintptr {
	all := map[int]uintptr{word: is}
	for i, w := range words {
		if i != word {
			all[i] = w
		}
	}
	return all
}

func long(n int) (words map[int]uintptr, calls []uintptr) {
	words = map[int]uintptr{}
	for i := range n {
		words[4+2*i], words[5+2*i] = at(6+2*i), code(i)
		calls = append(calls, code(i))
	}
	return words, calls
}

func madeUpStacks() []madeUp {
	longest, calls := long(150)
	deepest, deepCalls := long(131)
	two, three := []uintptr{code(1), code(2)}, []uintptr{code(1), code(2), code(3)}
	here := func(name string, fp uintptr, words map[int]uintptr, want []uintptr) madeUp {
		return madeUp{name: name, pc: code(0), sp: at(2), fp: fp, top: code(9), words: words, want: want, wantTop: code(9)}
	}
	elsewhere := here("another stack than that of g", at(4), threeFrames, three)
	elsewhere.sp, elsewhere.wantTop = 4096, 0
	return append([]madeUp{
		elsewhere,
		here("three frames", at(4), threeFrames, three),
		here("no frame pointer", 0, threeFrames, nil),
		here("no multiple of a word", at(4)+1, threeFrames, nil),
		here("below the stack pointer", at(0), but(threeFrames, 0, at(4)), nil),
		here("above the stack", ^uintptr(7), threeFrames, nil),
		here("no address", 8, threeFrames, nil),
		here("a circle", at(4), but(threeFrames, 4, at(4)), three[:1]),
		here("downwards", at(4), but(threeFrames, 8, at(4)), two),
		here("out of the stack", at(4), but(threeFrames, 8, ^uintptr(15)), two),
		here("no code", at(4), but(threeFrames, 5, 1), nil),
		here("no code further up", at(4), but(threeFrames, 13, ^uintptr(0)), two),
		here("as many frames as are written", at(4), deepest, deepCalls),
		here("too many frames", at(4), longest, slices.Concat(calls[:128], []uintptr{rawformat.StackCut}, calls[147:])),
	}, madeUpHere()...)
}

// interrupt calls the handler as if a stack had been interrupted. False: the stack was moved meanwhile.
//
//go:noinline
func interrupt(m *madeUp, value uint64, c *interrupted) bool {
	var room [madeWords]uintptr
	start := uintptr(unsafe.Pointer(&room))
	base := (start + 15) &^ 15
	for i, w := range m.words {
		room[uintptr(i)+(base-start)/8] = meant(w, base)
	}
	if m.sp == at(2) && m.words[2] == 0 {
		room[2+(base-start)/8] = meant(m.top, base)
	}
	c.set(meant(m.pc, base), meant(m.sp, base), meant(m.fp, base), meant(m.top, base))
	info := siginfo{code: siTimer, value: value}
	handler, _ := sampleEntry()
	signalcall.Call(handler, lastSignal, unsafe.Pointer(&info), unsafe.Pointer(c))
	return start == uintptr(unsafe.Pointer(&room))
}

// attached makes a sampler of the test's own with a ring for this thread, whose timer does not run.
func attached(t *testing.T) (*Sampler, *threadState) {
	s := &Sampler{}
	h, _ := host(t)
	if err := s.Open(h, 100, testDepth); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	th, err := s.attach(unix.Gettid())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.detach(th); err != nil {
			t.Error(err)
		}
		s.Close()
		runtime.UnlockOSThread()
	})
	return s, th
}

// The handler follows frame pointers as far as they can be right, and no further.
func TestMadeUpStacks(t *testing.T) {
	_, th := attached(t)
	value := cookie(th.slot, sampleSlots[th.slot].generation)
	for _, m := range madeUpStacks() {
		var rec rawformat.StackRecord
		for stays := false; !stays; {
			stays = interrupt(&m, value, &interrupted{})
			if ok, err := th.stacks.Next(&rec); !ok || err != nil {
				t.Fatalf("%s: no record: %v", m.name, err)
			}
			th.stacks.Drained()
		}
		var want []uint64
		for _, w := range m.want {
			want = append(want, uint64(meant(w, 0)))
		}
		if rec.PC != uint64(meant(m.pc, 0)) || rec.Top != uint64(meant(m.wantTop, 0)) || !slices.Equal(rec.Returns, want) || rec.Goroutine != rt.GoroutineNumber() || rec.Periods != 1 {
			t.Errorf("%s: %x, want %x, %x", m.name, rec, m.wantTop, want)
		}
	}
}

// A sample with more callers than are written is counted as cut; others are not.
func TestDeepSamples(t *testing.T) {
	s, th := attached(t)
	value := cookie(th.slot, sampleSlots[th.slot].generation)
	for _, m := range madeUpStacks() {
		before, taken := s.host.Recording.Lost(rawformat.LostDeep), uint64(0)
		for stays := false; !stays; taken++ {
			stays = interrupt(&m, value, &interrupted{})
		}
		if n := s.drain(unix.Gettid(), th); uint64(n) != taken {
			t.Fatalf("%s: %d samples of %d", m.name, n, taken)
		}
		want := uint64(0)
		if m.name == "too many frames" {
			want = taken
		}
		if got := s.host.Recording.Lost(rawformat.LostDeep) - before; got != want {
			t.Errorf("%s: %d of %d samples are counted, want %d", m.name, got, taken, want)
		}
	}
}

// A full ring counts the samples that it has no room for. A signal sent before the slot was given to this thread
// is ignored.
func TestRingIsFull(t *testing.T) {
	_, th := attached(t)
	m, generation := madeUpStacks()[1], sampleSlots[th.slot].generation
	interrupt(&m, cookie(th.slot, generation-1), &interrupted{})
	var rec rawformat.StackRecord
	if ok, err := th.stacks.Next(&rec); ok || err != nil {
		t.Errorf("an old timer's record: %v", err)
	}
	const all = 500
	for range all {
		interrupt(&m, cookie(th.slot, generation), &interrupted{})
	}
	found := 0
	for ok := true; ok; found++ {
		var err error
		if ok, err = th.stacks.Next(&rec); err != nil {
			t.Fatal(err)
		}
		th.stacks.Drained()
	}
	found-- // the last one was not a record
	if lost := int(th.stacks.Lost()); found < 100 || lost == 0 || found+lost != all {
		t.Errorf("%d records, %d lost, of %d", found, lost, all)
	}
	if busy := sampleSlots[th.slot].busy.Load(); busy != 0 {
		t.Errorf("the slot is in use %d times", busy)
	}
}
