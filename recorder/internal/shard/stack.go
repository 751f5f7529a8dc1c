package shard

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

const (
	// MaxDepth is how many callers of a marker are recorded.
	MaxDepth = 64

	// callsAbove is how many calls runtime.Callers skips to get to the program: Callers,
	// markStack, mark, emitSlow, and the event's method.
	callsAbove = 5

	// ownFrames is the number of calls between markStack and the event's method: mark,
	// and emitSlow or the function in its place. emitSlow may be followed by the wrapper
	// through which assembly calls it.
	ownFrames = 2

	knownSlots   = 1 << 12 // stacks whose ids are found without a lock
	knownProbes  = 4
	pendingSlots = 32 // new stacks between two rounds of the keeper
)

// markStack writes a marker with the stack it was made at: by the stack's id if it has one,
// else as pcs, and then the keeper gives it an id. Nothing is allocated.
//
// The key of a stack is the list of return addresses that frame pointers lead to, including
// the recorder's own method if that was not inlined. The functions at these addresses are
// looked up only once, when the keeper interns the stack.
//
//go:noinline
func (r *Recording) markStack(m *marker) {
	var calls [MaxDepth]uintptr
	n, at := 0, uintptr(0)
	switch given := &m.d.Given; {
	case given.Calls != nil:
		n = copy(calls[:], r.ofCallers(given))
		at = hash(calls[:n])
	case r.walkErr == nil:
		var sum uint64
		n, sum = rt.WalkFrames(&calls[0], MaxDepth, ownFrames)
		at = hashOf(sum, n)
	default:
		n = runtime.Callers(callsAbove, calls[:])
		at = hash(calls[:n])
	}
	cut := rt.IsCut(calls[:n], MaxDepth)
	if cut {
		r.Lose(rawformat.LostDeep, 1, 0)
	}
	stack := calls[:n]
	m.generation = r.known.generation.Load()
	if id := r.known.findAt(at, stack); id != 0 {
		if m.stack = uint64(id) + 1; r.write(m, nil) {
			return
		}
	}
	r.pending.submit(stack)
	var raw [MaxDepth + 1]uint64
	n = r.rawStack(raw[:], stack)
	if cut {
		raw[n] = rawformat.TruncatedPC
		n++
	}
	m.stack = uint64(min(n, 1))
	r.write(m, raw[:n])
}

// ofCallers is a stack that the program captured; nil if r captures stacks in another way
// than it was captured.
func (r *Recording) ofCallers(c *registry.Callers) []uintptr {
	if c.Walked != (r.walkErr == nil) {
		return nil
	}
	return c.Calls
}

// rawStack stores the stack as pcs, without the recorder's own calls, and returns how many
// there are. With frame pointers it allocates nothing and asks the runtime for little: the
// keeper finds out later which functions the pcs are in.
func (r *Recording) rawStack(raw []uint64, stack []uintptr) (n int) {
	if r.walkErr != nil {
		for _, l := range withoutOwn(dict.Locate(slices.Clone(stack))) { // a copy, so that the caller's array does not escape to the heap
			raw[n] = l.PC
			n++
		}
		return n
	}
	for len(stack) > 0 && isOwnCall(stack[0]) {
		stack = stack[1:]
	}
	for _, pc := range stack {
		if !rt.IsWrapper(pc) {
			raw[n] = uint64(pc) - 1
			n++
		}
	}
	return n
}

// isOwnCall reports whether a call is in one of the recorder's methods that was not
// inlined. Asking for the name of an inlined function would allocate, so it asks for the
// function that it was inlined into, which comes last. The name of a generic function would
// allocate, too, so the file decides.
func isOwnCall(call uintptr) bool {
	functions := [rt.MaxChain]uintptr{}
	n := rt.ExpandInlined(functions[:], []uintptr{0, call})
	if n == 0 || n == rt.MaxChain {
		return n == 0
	}
	f := runtime.FuncForPC(functions[n-1] - 1)
	if f == nil {
		return false
	}
	file, _ := f.FileLine(functions[n-1] - 1)
	name, ok := strings.CutPrefix(file, sourceFolder())
	return ok && (name == "event.go" || name == "eventn.go" || name == "eventtime.go" || name == "text.go" || name == shardFolder+"span.go" || name == shardFolder+"place.go" || name == shardFolder+"emit_portable.go")
}

// shardFolder is this package's folder below that of package recorder.
const shardFolder = "internal/shard/"

// sourceFolder is where the compiler found package recorder. The first call allocates.
var sourceFolder = sync.OnceValue(func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, shardFolder+"stack.go")
})

// places resolves the calls of a marker's stack.
func (r *Recording) places(stack []uintptr) []dict.Frame {
	if r.walkErr != nil {
		return withoutOwn(dict.Locate(stack))
	}
	return withoutOwn(dict.Locate(rt.Expand(stack)))
}

// withoutOwn removes the recorder's method that the program called.
func withoutOwn(leafFirst []dict.Frame) []dict.Frame {
	for len(leafFirst) > 0 {
		leaf := &leafFirst[0]
		before := len(leaf.Functions)
		for n := before; n > 0 && isOwn(leaf.Functions[n-1].Name); n-- {
			leaf.Functions = leaf.Functions[:n-1]
		}
		if len(leaf.Functions) > 0 {
			break
		}
		leafFirst = leafFirst[1:]
		if before == 0 {
			break
		}
	}
	return leafFirst
}

// isOwn reports whether a function is one of those that make markers.
func isOwn(function string) bool {
	if name, ok := strings.CutPrefix(function, "gprof/recorder/internal/shard."); ok {
		return name == "Emit" || strings.HasPrefix(name, "(*Span).") || strings.HasPrefix(name, "SpanN.") || strings.HasPrefix(name, "Handle.")
	}
	name, ok := strings.CutPrefix(function, "gprof/recorder.")
	return ok && (strings.HasPrefix(name, "Event") || strings.HasPrefix(name, "Span") || strings.HasPrefix(name, "(*Track).") || name == "Mark" || name == "Text" || name == "markUntyped")
}

// FindStack is the id of a stack, 0 if it is not known. [Recording.AddStack] makes a stack
// known; only the keeper adds. A stack is a list of calls, return addresses as a rule; each
// kind of caller looks for stacks in the form in which it added them.
func (r *Recording) FindStack(calls []uintptr) uint32 { return r.known.find(calls) }

// AddStack makes the id of a stack known to [Recording.FindStack].
func (r *Recording) AddStack(calls []uintptr, id uint32) { r.known.add(calls, id) }

// knownStacks maps stacks to their ids. Any goroutine may look up; only the keeper adds.
// Ids are of one generation of the dictionary.
type knownStacks struct {
	generation atomic.Uint32
	slots      [knownSlots]atomic.Pointer[knownStack]
}

type knownStack struct {
	calls []uintptr
	id    uint32
}

// forget empties the table for a new generation. A marker that found an id before knows the
// id's generation.
func (t *knownStacks) forget(generation uint16) {
	t.generation.Store(uint32(generation))
	if generation == 1 {
		return // it is empty: touch none of its pages
	}
	for i := range t.slots {
		t.slots[i].Store(nil)
	}
}

func (t *knownStacks) find(calls []uintptr) uint32 { return t.findAt(hash(calls), calls) }

// findAt is find with the hash known.
func (t *knownStacks) findAt(at uintptr, calls []uintptr) uint32 {
	for i := range uintptr(knownProbes) {
		if k := t.slots[(at+i)%knownSlots].Load(); k != nil && slices.Equal(k.calls, calls) {
			return k.id
		}
	}
	return 0
}

// add stores a stack. If there is no free slot it replaces the one in the stack's first
// slot.
func (t *knownStacks) add(calls []uintptr, id uint32) {
	at := hash(calls)
	k := &knownStack{slices.Clone(calls), id}
	for i := range uintptr(knownProbes) {
		if t.slots[(at+i)%knownSlots].CompareAndSwap(nil, k) {
			return
		}
	}
	t.slots[at%knownSlots].Store(k)
}

// hash spreads stacks over the table. Stacks with equal hashes are told apart by content.
func hash(calls []uintptr) uintptr { return hashOf(rt.SumOf(calls), len(calls)) }

// hashOf is the hash of a stack whose addresses have that sum. It multiplies once, at the
// end: a product for each address would have to wait for the one before it.
func hashOf(sum uint64, depth int) uintptr {
	return uintptr((sum + uint64(depth)) * 0x9e3779b97f4a7c15 >> 40)
}

// newStacks passes stacks without an id to the keeper.
type newStacks struct {
	lock  uint32
	n     int
	depth [pendingSlots]int
	calls [pendingSlots][MaxDepth]uintptr
}

// submit never waits. A stack that finds no place is submitted again by its next marker.
func (f *newStacks) submit(calls []uintptr) {
	if atomic.SwapUint32(&f.lock, 1) != 0 {
		return
	}
	if f.n < pendingSlots {
		f.depth[f.n] = copy(f.calls[f.n][:], calls)
		f.n++
	}
	atomic.StoreUint32(&f.lock, 0)
}

// take moves all stacks to dst.
func (f *newStacks) take(dst *newStacks) {
	dst.n = 0
	if atomic.SwapUint32(&f.lock, 1) != 0 {
		return
	}
	dst.n = f.n
	for i := range f.n {
		dst.depth[i] = copy(dst.calls[i][:], f.calls[i][:f.depth[i]])
	}
	f.n = 0
	atomic.StoreUint32(&f.lock, 0)
}

// InternStacks gives ids to the stacks that were submitted, and to those of markers before
// Start.
func (r *Recording) InternStacks(d *dict.Dictionary) {
	sourceFolder() // so that no marker allocates for it
	for _, calls := range r.earlyStacks {
		r.internStack(d, calls)
	}
	r.earlyStacks = nil
	r.pending.take(&r.interning)
	for i := range r.interning.n {
		r.internStack(d, r.interning.calls[i][:r.interning.depth[i]])
	}
}

func (r *Recording) internStack(d *dict.Dictionary, calls []uintptr) {
	if r.known.find(calls) != 0 {
		return
	}
	leafFirst := r.places(calls)
	if rt.IsCut(calls, MaxDepth) {
		leafFirst = append(leafFirst, dict.Truncated)
	}
	if id := d.Stack(leafFirst); id != 0 {
		r.known.add(calls, id)
	}
}
