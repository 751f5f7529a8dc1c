// Package calls sums up samples along their stacks: what each function took by itself,
// and with all that it called. A function that is in a stack several times, as in a
// recursion, has a sample once.
//
// The caller chooses what counts as a function: any key of a frame will do, such as its
// package or its line.
package calls

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"gprof/stream"
)

// Amount is a sum of samples, saturated.
type Amount struct {
	Samples int64 // by weight
	Timed   int64 // of Samples, those with a known CPU time
	CPU     int64 // ns, of Timed
}

// Add adds o.
func (a *Amount) Add(o Amount) {
	a.Samples, a.Timed, a.CPU = stream.Plus(a.Samples, o.Samples), stream.Plus(a.Timed, o.Timed), stream.Plus(a.CPU, o.CPU)
}

// of is the amount of one row.
func of(weight, cpu int64) Amount {
	a := Amount{Samples: max(0, weight)}
	if cpu >= 0 {
		a.Timed, a.CPU = a.Samples, cpu
	}
	return a
}

// Valued is the amount of a row that is no sample: of so many operations, with their value in place of
// CPU time.
func Valued(value, number int64) Amount {
	number = max(1, number)
	return Amount{Samples: number, Timed: number, CPU: max(0, value)}
}

// Key is what frames are summed up by; 0 is the key of samples without a stack.
type Key int32

// Sum is the sum for one key.
type Sum struct {
	Key   Key
	Self  Amount // samples whose innermost frame has the key
	Total Amount // samples of which any frame has the key
}

// Sums sums up samples stack by stack. It takes 54 bytes for each stack of the tables, however many
// samples there are.
type Sums struct {
	All Amount // of all samples since Take

	// Each, if there is one, is called by Take for each stack that has samples of its own: callees come
	// before their callers.
	Each func(id stream.StackID, self Amount)

	tables *stream.Tables
	keys   []Key  // by FrameID
	outer  []bool // by StackID: no caller has the same key
	self   []Amount
	called []Amount // by StackID, of the stacks below it
	seen   []bool   // by StackID: it or a callee has samples
	stacks []stream.StackID
	sums   []Sum   // scratch
	at     []int32 // by Key: 1 and where it is in sums
}

// rowBytes is the memory of Sums.
var rowBytes = stream.RowBytes{Stack: 2*int64(unsafe.Sizeof(Amount{})) + 2 + 4, Frame: int64(unsafe.Sizeof(Key(0)))}

// New returns Sums of the samples of an output of t. keys are by FrameID. The error is a
// [stream.ErrMemory].
func New(t *stream.Tables, keys []Key) (*Sums, error) {
	if err := t.Reserve(rowBytes.In(t)); err != nil {
		return nil, err
	}
	n := t.Stacks.Len() + 1
	s := &Sums{tables: t, keys: slices.Clone(keys), self: make([]Amount, n), called: make([]Amount, n), seen: make([]bool, n)}
	s.keys[0] = 0
	s.at = make([]int32, slices.Max(s.keys)+1)
	s.findOuter()
	return s, nil
}

// key is the key of a stack's innermost frame.
func (s *Sums) key(id stream.StackID) Key {
	if id == 0 {
		return 0
	}
	_, frame := s.tables.Stacks.At(id)
	return s.keys[frame]
}

// AddAmount adds an amount at a stack.
func (s *Sums) AddAmount(stack stream.StackID, a Amount) {
	s.All.Add(a)
	s.self[stack].Add(a)
	s.see(stack)
}

// see lists a stack.
func (s *Sums) see(id stream.StackID) {
	if !s.seen[id] {
		s.seen[id] = true
		s.stacks = append(s.stacks, id)
	}
}

// Take returns the sums so far by key, valid until the next Take, and begins anew.
func (s *Sums) Take() []Sum {
	s.sums = s.sums[:0]
	s.seeCallers()
	for _, id := range slices.Backward(s.stacks) { // callees come first
		s.give(id)
	}
	for _, sum := range s.sums {
		s.at[sum.Key] = 0
	}
	s.stacks, s.All = s.stacks[:0], Amount{}
	slices.SortFunc(s.sums, func(a, b Sum) int { return int(a.Key) - int(b.Key) })
	return s.sums
}

// manyStacks is the part of all stacks from which on it takes less time to look at all than to sort some:
// 1/manyStacks.
const manyStacks = 64

// seeCallers adds the callers of the stacks that are listed, and puts all in order.
func (s *Sums) seeCallers() {
	if len(s.stacks) < len(s.seen)/manyStacks {
		for i := 0; i < len(s.stacks); i++ {
			if id := s.stacks[i]; id != 0 {
				if caller, _ := s.tables.Stacks.At(id); caller != 0 {
					s.see(caller)
				}
			}
		}
		slices.Sort(s.stacks)
		return
	}
	for id := len(s.seen) - 1; id > 0; id-- {
		if s.seen[id] {
			caller, _ := s.tables.Stacks.At(stream.StackID(id))
			s.seen[caller] = s.seen[caller] || caller != 0
		}
	}
	s.stacks = s.stacks[:0]
	for id, seen := range s.seen {
		if seen {
			s.stacks = append(s.stacks, stream.StackID(id))
		}
	}
}

// give adds the amounts of a stack and all its callees to its key and its caller.
func (s *Sums) give(id stream.StackID) {
	self, total := s.self[id], s.called[id]
	total.Add(self)
	if s.Each != nil && self != (Amount{}) {
		s.Each(id, self)
	}
	sum := s.sum(s.key(id))
	sum.Self.Add(self)
	if s.outer[id] {
		sum.Total.Add(total)
	}
	if id != 0 {
		if caller, _ := s.tables.Stacks.At(id); caller != 0 {
			s.called[caller].Add(total)
		}
	}
	s.self[id], s.called[id], s.seen[id] = Amount{}, Amount{}, false
}

func (s *Sums) sum(key Key) *Sum {
	if s.at[key] == 0 {
		s.sums = append(s.sums, Sum{Key: key})
		s.at[key] = int32(len(s.sums))
	}
	return &s.sums[s.at[key]-1]
}

// findOuter notes the stacks without a caller of the same key.
func (s *Sums) findOuter() {
	first, next := s.callees()
	open := make([]int32, len(s.at)) // by Key: how many stacks on the path have it
	s.outer = make([]bool, len(s.self))
	s.outer[0] = true
	for at := first[0]; at != 0; {
		key := s.key(at)
		s.outer[at] = open[key] == 0
		open[key]++
		if first[at] != 0 {
			at = first[at]
			continue
		}
		for at != 0 && next[at] == 0 {
			open[s.key(at)]--
			at, _ = s.tables.Stacks.At(at)
		}
		if at != 0 {
			open[s.key(at)]--
			at = next[at]
		}
	}
}

// callees returns the first callee of each stack, and the next one of the same caller.
func (s *Sums) callees() (first, next []stream.StackID) {
	n := s.tables.Stacks.Len()
	first, next = make([]stream.StackID, n+1), make([]stream.StackID, n+1)
	for id := stream.StackID(n); id > 0; id-- {
		caller, _ := s.tables.Stacks.At(id)
		next[id], first[caller] = first[caller], id
	}
	return first, next
}

// noStack is the name for samples without a stack.
const noStack = "(no stack)"

// Names interns the names that frames are summed up by: by Key, from noStack on.
type Names struct {
	All []string // by Key
	ids map[string]Key
}

// NewNames returns Names of noStack alone.
func NewNames() *Names { return &Names{All: []string{noStack}, ids: map[string]Key{noStack: 0}} }

// Keys returns the key of each frame of t, by FrameID, and their names. Frames of one name share a
// key.
func Keys(t *stream.Tables, name func(*stream.Tables, stream.Frame) string) ([]Key, *Names) {
	names := NewNames()
	keys := make([]Key, t.Frames.Len()+1)
	for id := 1; id <= t.Frames.Len(); id++ {
		keys[id] = names.Intern(name(t, t.Frames.At(stream.FrameID(id))))
	}
	return keys, names
}

// Intern returns the key of a name.
func (n *Names) Intern(name string) Key {
	key, ok := n.ids[name]
	if !ok {
		key = Key(len(n.All))
		n.ids[name] = key
		n.All = append(n.All, name)
	}
	return key
}

// Function is the name of a frame's function or, without a name, its place in its module.
func Function(t *stream.Tables, f stream.Frame) string {
	if f.Function == 0 {
		return fmt.Sprintf("%s+0x%x", module(t, f), f.Offset)
	}
	return t.Strings.At(f.Function)
}

// SameFunction is Function across builds of a program: places differ between builds, so
// all places of a module are one function.
func SameFunction(t *stream.Tables, f stream.Frame) string {
	if f.Function == 0 {
		return module(t, f) + " (no name)"
	}
	return t.Strings.At(f.Function)
}

// Module is the base name of a frame's file.
func Module(t *stream.Tables, f stream.Frame) string { return orNone(module(t, f), "module") }

func module(t *stream.Tables, f stream.Frame) string {
	if f.Module == 0 {
		return ""
	}
	return t.Modules.At(f.Module).Name
}

// Package is the package of a Go function, as "net/http" of "net/http.(*conn).serve"; for
// other functions it is the module. Labels have none.
func Package(t *stream.Tables, f stream.Frame) string {
	if f.Label {
		return "(label)"
	}
	if pkg := PackageOf(t.Strings.At(f.Function)); pkg != "" {
		return pkg
	}
	return cmp.Or(packageOfAssembly(t.Strings.At(f.File)), Module(t, f))
}

// packageOfAssembly is the package of a file of Go's assembler, whose functions may have none in their names,
// as runtime's aeshashbody; "" of other files.
func packageOfAssembly(file string) string {
	dir, ok := strings.CutSuffix(file, "/"+path.Base(file))
	if !ok || !strings.HasSuffix(file, ".s") {
		return ""
	}
	for _, root := range []string{"/pkg/mod/", "/src/"} {
		if i := strings.LastIndex(dir, root); i >= 0 {
			dir = dir[i+len(root):]
		}
	}
	if path.IsAbs(dir) {
		return ""
	}
	module, rest, versioned := strings.Cut(dir, "@")
	if _, inside, below := strings.Cut(rest, "/"); versioned && below {
		return module + "/" + inside
	}
	return module
}

// PackageOf is the package in a Go function's name, "" in others.
func PackageOf(function string) string {
	head, _, _ := strings.Cut(function, "[") // type arguments and receivers have dots of their own
	head, _, _ = strings.Cut(head, "(")
	slash := strings.LastIndexByte(head, '/') + 1
	if dot := strings.IndexByte(head[slash:], '.'); dot > 0 {
		return head[:slash+dot]
	}
	return ""
}

// File is the source file of a frame.
func File(t *stream.Tables, f stream.Frame) string { return orNone(t.Strings.At(f.File), "file") }

// Line is a frame's place in its source file, and the function.
func Line(t *stream.Tables, f stream.Frame) string {
	if f.File == 0 || f.Line <= 0 {
		return Function(t, f)
	}
	return File(t, f) + ":" + strconv.Itoa(int(f.Line)) + " " + Function(t, f)
}

// Category is the name of a frame's category.
func Category(t *stream.Tables, f stream.Frame) string {
	if f.Category == 0 {
		return stream.Other.Name
	}
	return t.Categories.At(f.Category).Name
}

func orNone(name, what string) string {
	if name == "" {
		return "(no " + what + ")"
	}
	return name
}
