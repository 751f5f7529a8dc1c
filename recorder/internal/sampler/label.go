//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"sync/atomic"
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// The signal handler finds the labels of a goroutine by its number, in a table of fixed size. A slot belongs
// to one goroutine from the beginning of its outermost label to the end of that. A handler that reads the slot
// has interrupted that goroutine, and so sees a consistent state. The place of a label is its distance from the
// stack's upper end, which does not change when the stack grows.

const (
	labelHash   = 0x9e3779b97f4a7c15
	labelBits   = 11 // the logarithm of the number of slots
	labelProbes = 4
	maxLabels   = 14 // in a slot
)

// labelSlot is 128 bytes long; the handler depends on that.
type labelSlot struct {
	goroutine atomic.Uint64
	n         uint64 // how many labels it is in
	labels    [maxLabels]placedLabel
}

type placedLabel struct{ depth, label uint32 }

var (
	labelSlots [1 << labelBits]labelSlot
	labelsFail atomic.Bool // the sampler's self-test found that they don't work
)

// Scope is a label that has begun.
type Scope struct {
	slot      *labelSlot
	goroutine uint64
	n         uint64 // how many labels enclose it
}

// outerPlace is the running g, and the stack pointer of the function that called the
// caller's caller.
func outerPlace() (gp, sp uintptr)

// Begin begins a label on the calling goroutine, in the function that called the caller.
// The caller is the method by which the program begins the label, and must not be inlined.
//
//go:noinline
//go:norace
//go:nocheckptr
func Begin(r *shard.Recording, label uint32) Scope {
	goid := rt.GoroutineOffset() // known before the sampler is, which begins soon after Start has returned
	if goid == 0 || labelsFail.Load() {
		return Scope{}
	}
	g, sp := outerPlace()
	id := uint64(load64(g + goid))
	s := labelSlotOf(id)
	if s == nil {
		if sampleLayout.slots != 0 {
			r.Lose(rawformat.LostLabels, 1, 0)
		}
		return Scope{}
	}
	n := s.n
	if n < maxLabels {
		s.labels[n] = placedLabel{uint32(load64(g+offStackHi) - sp), label}
	}
	atomic.StoreUint64(&s.n, n+1) // the handler may come at any instruction
	return Scope{s, id, n}
}

// End ends the label, and those begun in it that have not ended. It must be called by the
// goroutine that began it; ending twice does nothing.
//
//go:norace
func (s Scope) End() {
	if s.slot == nil || s.slot.goroutine.Load() != s.goroutine || s.slot.n <= s.n {
		return
	}
	atomic.StoreUint64(&s.slot.n, s.n)
	if s.n == 0 {
		s.slot.goroutine.Store(0)
	}
}

// labelSlotOf finds the slot of a goroutine or takes a free one; nil: there is none.
func labelSlotOf(id uint64) *labelSlot {
	const mask = 1<<labelBits - 1
	first := id * labelHash >> (64 - labelBits)
	for i := range uint64(labelProbes) {
		if s := &labelSlots[(first+i)&mask]; s.goroutine.Load() == id {
			return s
		}
	}
	for i := range uint64(labelProbes) {
		s := &labelSlots[(first+i)&mask]
		if s.goroutine.Load() == 0 && s.goroutine.CompareAndSwap(0, id) {
			atomic.StoreUint64(&s.n, 0)
			return s
		}
	}
	return nil
}

var _ = [1]struct{}{}[unsafe.Sizeof(labelSlot{})-128]
