package shard

import (
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

const (
	// MaxDepth is how many callers of a marker are recorded.
	MaxDepth = 64

	// callsAbove is the number of calls between runtime.Callers and the program:
	// Callers, markStack, mark, emitElse, and the event's method.
	callsAbove = 5

	// ownFrames are the calls between markStack and the event's method: mark and
	// emitElse, or what stands for that. Behind emitElse there may be one of the
	// compiler's making, by which assembly calls it.
	ownFrames = 2

	knownSlots   = 1 << 12 // stacks whose id is found without a lock
	knownProbes  = 4
	pendingSlots = 32 // new stacks in one tick of the keeper
)

// markStack writes a marker with the stack that it was made at: by its id if it
// has one, else as pcs. The keeper then gives it an id. Nothing is allocated.
//
// A stack is looked up by what frame pointers lead to: the return addresses of
// calls, among them that of the recorder's own method, if it was not inlined. What
// that means in functions is asked for only once.
//
//go:noinline
func (r *Recording) markStack(m *marker) {
	var calls [MaxDepth]uintptr
	n, at := 0, uintptr(0)
	switch given := &m.d.Given; {
	case given.Calls != nil:
		n = copy(calls[:], r.ofCallers(given))
		at = hash(calls[:n])
	case r.unwalked == nil:
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
	r.fresh.submit(stack)
	var raw [MaxDepth + 1]uint64
	n = r.rawStack(raw[:], stack)
	if cut {
		raw[n] = rawformat.TruncatedPC
		n++
	}
	m.stack = uint64(min(n, 1))
	r.write(m, raw[:n])
}

// ofCallers is a captured stack as r has it: none if r would have captured it in another
// way.
func (r *Recording) ofCallers(c *registry.Callers) []uintptr {
	if c.Walked != (r.unwalked == nil) {
		return nil
	}
	return c.Calls
}

// rawStack is the stack as pcs, without the recorder's own calls, and returns how
// many there are. By frame pointers nothing is allocated, and little is asked of
// the runtime: what is at a pc is for the keeper to find out.
func (r *Recording) rawStack(raw []uint64, stack []uintptr) (n int) {
	if r.unwalked != nil {
		for _, l := range withoutOwn(dict.Locate(slices.Clone(stack))) { // a copy, so that the caller's stays on its stack
			raw[n] = l.PC
			n++
		}
		return n
	}
	for len(stack) > 0 && r.isOwnCall(stack[0]) {
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

// isOwnCall reports whether a call is from one of the recorder's methods that was
// not inlined. Asking for an inlined function would allocate; the one that it was
// inlined into comes last. So would the name of a generic one: the file tells, too.
func (r *Recording) isOwnCall(call uintptr) bool {
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
	name, ok := strings.CutPrefix(file, r.source)
	return ok && (name == "event.go" || name == "eventn.go" || name == "text.go" || name == shardFolder+"span.go" || name == shardFolder+"emit_portable.go")
}

// shardFolder is where this package's source lies, below that of the program's calls.
const shardFolder = "internal/shard/"

// sourceFolder is where the compiler found package recorder.
func sourceFolder() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, shardFolder+"stack.go")
}

// places is where the calls of a marker's stack are.
func (r *Recording) places(stack []uintptr) []dict.Frame {
	if r.unwalked != nil {
		return withoutOwn(dict.Locate(stack))
	}
	return withoutOwn(dict.Locate(rt.Expand(stack)))
}

// withoutOwn leaves out the method by which the program called us.
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
	return ok && (strings.HasPrefix(name, "Event") || strings.HasPrefix(name, "Span") || strings.HasPrefix(name, "(*Track).") || name == "Mark" || name == "Text")
}

// FindStack is the id of a stack, 0 if it is not known; AddStack makes it known. Only the
// keeper adds. A stack is calls as whoever asks writes them: return addresses as a rule.
func (r *Recording) FindStack(calls []uintptr) uint32 { return r.known.find(calls) }

// AddStack: see [Recording.FindStack].
func (r *Recording) AddStack(calls []uintptr, id uint32) { r.known.add(calls, id) }

// knownStacks finds the id of a stack by its content. Any goroutine may ask;
// the keeper alone adds. An id counts in one generation of the dictionary.
type knownStacks struct {
	generation atomic.Uint32
	slots      [knownSlots]atomic.Pointer[knownStack]
}

type knownStack struct {
	calls []uintptr
	id    uint32
}

// forget forgets all stacks, because of a new generation. Who has found an id
// before knows its generation.
func (t *knownStacks) forget(generation uint16) {
	t.generation.Store(uint32(generation))
	for i := range t.slots {
		t.slots[i].Store(nil)
	}
}

func (t *knownStacks) find(calls []uintptr) uint32 { return t.findAt(hash(calls), calls) }

// findAt is find where the hash is known.
func (t *knownStacks) findAt(at uintptr, calls []uintptr) uint32 {
	for i := range uintptr(knownProbes) {
		if k := t.slots[(at+i)%knownSlots].Load(); k != nil && slices.Equal(k.calls, calls) {
			return k.id
		}
	}
	return 0
}

// add makes room for the stack if need be: the one in its first place goes.
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

// hash spreads stacks over the table; equal hashes do no harm.
func hash(calls []uintptr) uintptr { return hashOf(rt.SumOf(calls), len(calls)) }

// hashOf is the hash of a stack with that sum: one product for all, because each would
// wait for the one before it.
func hashOf(sum uint64, depth int) uintptr {
	return uintptr((sum + uint64(depth)) * 0x9e3779b97f4a7c15 >> 40)
}

// freshStacks passes stacks without an id to the keeper.
type freshStacks struct {
	lock  uint32
	n     int
	depth [pendingSlots]int
	calls [pendingSlots][MaxDepth]uintptr
}

// submit never waits: a stack that finds no place comes again.
func (f *freshStacks) submit(calls []uintptr) {
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
func (f *freshStacks) take(dst *freshStacks) {
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

// InternStacks gives stacks that were submitted their ids, and those of before Start, by
// which the dictionary tells what is at their pcs.
func (r *Recording) InternStacks(d *dict.Dictionary) {
	for _, calls := range r.unnamed {
		r.internStack(d, calls)
	}
	r.unnamed = nil
	r.fresh.take(&r.taken)
	for i := range r.taken.n {
		r.internStack(d, r.taken.calls[i][:r.taken.depth[i]])
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
