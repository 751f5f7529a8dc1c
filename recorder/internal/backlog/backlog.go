//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package backlog

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/variables"
)

// A bucket of the runtime's: the words of its header, its stack of nstk words, and four groups of
// numbers, of which the first is published. How many are in a group depends on the version of Go.
const (
	wordNext = 1 // the bucket that was made before this one
	wordKind = 2
	wordSize = 4 // of each object, in bytes
	wordDeep = 5 // words of the stack
	header   = 6

	kindMemory = 1
	maxDeep    = 1024
	groups     = 4

	allocated, freed, allocatedBytes, freedBytes = 0, 1, 2, 3 // within a group
)

const (
	fewest = 2    // so many buckets must be there: a list, not just something that looks like one
	most   = 1000 // that are compared, the others are behind them
	newer  = 64   // that may have been made since the records were read
)

var (
	errFew   = errors.New("too few heap samples to find the list by")
	errFound = errors.New("the list of heap samples is not found")
)

// bucket is the address of a bucket, which the runtime never frees.
type bucket = unsafe.Pointer

// Backlog is the list of the runtime's buckets.
type Backlog struct {
	list    uintptr  // the address of the variable with the newest bucket; 0: not found
	buckets []Bucket // in the order in which they were made
}

// Bucket is a place where objects of one size are allocated, and how many the runtime has counted.
type Bucket struct {
	at      bucket
	deep    uint64
	size    uint64
	numbers [groups][2]uint64 // allocated and freed
}

// Found reports whether the list is known.
func (b *Backlog) Found() bool { return b.list != 0 }

// Find searches for the list, unless it is known, by all records of runtime.MemProfile. The error says
// why it can't be used; with other records it may be found later.
func (b *Backlog) Find(records []runtime.MemProfileRecord) error {
	if b.list != 0 {
		return nil
	}
	if err := rt.Backlog.Err(); err != nil {
		return err
	}
	if len(records) < fewest {
		return errFew
	}
	heap := uintptr(unsafe.Pointer(&records[0])) >> heapBits
	for _, anywhere := range []bool{false, true} {
		err := variables.Each(func(at uintptr, words rt.Memory) bool {
			for i, w := range words {
				own, to := at+uintptr(8*i), uintptr(w)
				if (anywhere || to>>heapBits != heap) && mayPoint(own, to) && isList(to, records) {
					b.list = own
					return false
				}
			}
			return true
		})
		if err != nil || b.list != 0 {
			return err
		}
	}
	return errFound
}

// heapBits are the bits of an address within the part of the address space in which Go's heap lies, as a rule.
// Most variables that point far point there, buckets don't lie there, and each look at what may be one is a system call.
const heapBits = 38

// mayPoint reports whether a variable may point to memory that the runtime has mapped, which lies far
// from the program and its variables.
func mayPoint(own, to uintptr) bool {
	const far = 1 << 28
	return to%8 == 0 && to >= 1<<16 && to>>48 == 0 && max(own, to)-min(own, to) > far
}

// isList reports whether a list of buckets begins at an address, and is that of the records.
// Everything is read through the kernel, because it may be no address at all.
func isList(at uintptr, records []runtime.MemProfileRecord) bool {
	skipped, compared := 0, 0
	words := make(rt.Memory, header, header+maxDeep+groups*group)
	for at != 0 && compared < min(most, len(records)) {
		words = words[:header]
		if at%8 != 0 || words.Read(at) != nil || words[wordKind] != kindMemory || words[wordDeep]-1 >= maxDeep {
			return false
		}
		words = words[:header+int(words[wordDeep])+groups*group]
		if words.Read(at) != nil || !consistent(words) {
			return false
		}
		switch {
		case fits(words, &records[compared]):
			compared++
		case compared > 0 || skipped == newer:
			return false
		default:
			skipped++
		}
		at = uintptr(words[wordNext])
	}
	return compared == min(most, len(records))
}

// consistent reports whether the numbers of a bucket make sense: all its objects have one size.
func consistent(words rt.Memory) bool {
	if group <= freedBytes {
		return true // there are no bytes: stacks must do
	}
	size, numbers := words[wordSize], words[header+int(words[wordDeep]):]
	for i := 0; i < len(numbers); i += group {
		if numbers[i+allocatedBytes] != numbers[i+allocated]*size || numbers[i+freedBytes] != numbers[i+freed]*size {
			return false
		}
	}
	return true
}

// fits reports whether a record is of this bucket.
func fits(words rt.Memory, r *runtime.MemProfileRecord) bool {
	stack := words[header : header+int(words[wordDeep])]
	for i, pc := range stack[:min(len(stack), len(r.Stack0))] {
		if pc != uint64(r.Stack0[i]) {
			return false
		}
	}
	return r.AllocObjects == 0 || uint64(r.AllocBytes/r.AllocObjects) == words[wordSize]
}

// attempts is how often all is read anew because the runtime published meanwhile.
const attempts = 3

// Read returns all buckets, read just now. They are valid until the next call; more may follow then, none
// is gone. False: the list is not found, or the runtime published again and again meanwhile, so that
// some numbers may be there twice.
//
// It takes no lock: the numbers of a bucket only grow, except when the runtime moves some to those that
// are published, which it increases first. So all is read, and then compared with what it has become once the runtime
// does not publish any more: a number that was there twice is in a published one that has grown, or is gone
// from where it came.
func (b *Backlog) Read() ([]Bucket, bool) {
	if b.list == 0 {
		return nil, false
	}
	b.extend()
	for range attempts {
		for i := range b.buckets {
			b.buckets[i].read()
		}
		runtime.MemProfile(nil, true) // waits for the lock that publishing takes
		if b.stands() {
			return b.buckets, true
		}
	}
	return b.buckets, false
}

// extend appends the buckets that are new.
func (b *Backlog) extend() {
	var newest bucket
	known := len(b.buckets)
	if known > 0 {
		newest = b.buckets[known-1].at
	}
	for at := next(static(b.list), 0); at != newest && at != nil; at = next(at, wordNext) {
		b.buckets = append(b.buckets, Bucket{at: at, size: word(at, wordSize), deep: word(at, wordDeep)})
	}
	slices.Reverse(b.buckets[known:])
}

// read reads the numbers.
func (b *Bucket) read() {
	for g := range b.numbers {
		b.numbers[g] = [2]uint64{b.number(g, allocated), b.number(g, freed)}
	}
}

func (b *Bucket) number(g, i int) uint64 { return word(b.at, header+b.deep+uint64(g*group+i)) }

// stands reports whether nothing was published since all was read.
func (b *Backlog) stands() bool {
	for i := range b.buckets {
		if !b.buckets[i].stands() {
			return false
		}
	}
	return true
}

func (b *Bucket) stands() bool {
	for i := range 2 {
		if b.number(0, i) != b.numbers[0][i] {
			return false
		}
		for g := 1; g < groups; g++ {
			if b.number(g, i) < b.numbers[g][i] {
				return false
			}
		}
	}
	return true
}

// Size is that of each object, in bytes.
func (b *Bucket) Size() int64 { return int64(b.size) }

// Published is how many objects runtime.MemProfile says were allocated, and freed.
func (b *Bucket) Published() (made, gone int64) {
	return int64(b.numbers[0][allocated]), int64(b.numbers[0][freed])
}

// All is how many there are, with those that are not published.
func (b *Bucket) All() (made, gone int64) {
	for _, n := range b.numbers {
		made, gone = made+int64(n[allocated]), gone+int64(n[freed])
	}
	return made, gone
}

// Stack copies the stack, as it is in a runtime.MemProfileRecord.
func (b *Bucket) Stack() (pcs [32]uintptr) {
	for i := range pcs[:min(uint64(len(pcs)), b.deep)] {
		pcs[i] = uintptr(word(b.at, header+uint64(i)))
	}
	return pcs
}

//go:norace
//go:nocheckptr
func word(at bucket, i uint64) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Add(at, 8*i)))
}

//go:norace
//go:nocheckptr
func next(at unsafe.Pointer, word int) bucket {
	return atomic.LoadPointer((*unsafe.Pointer)(unsafe.Add(at, 8*word)))
}

// static converts an address outside of Go's heap.
func static(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
