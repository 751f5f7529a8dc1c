//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package backlog

import (
	"errors"
	"runtime"
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
	list uintptr // the address of the variable with the newest bucket; 0: not found
}

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
	err := variables.Each(func(at uintptr, words rt.Memory) bool {
		for i, w := range words {
			if own := at + uintptr(8*i); mayPoint(own, uintptr(w)) && isList(uintptr(w), records) {
				b.list = own
				return false
			}
		}
		return true
	})
	if err == nil && b.list == 0 {
		err = errFound
	}
	return err
}

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

// Add adds to each of all records of runtime.MemProfile what is not published. False: the runtime
// has published more since the records were read; some of them may be changed then, and all are to be
// read again.
//
// It takes no lock: the numbers of a bucket only grow, except when the runtime moves some to those that
// are published, which it increases first.
func (b *Backlog) Add(records []runtime.MemProfileRecord) bool {
	if b.list == 0 {
		return false
	}
	first := bucket(atomic.LoadPointer((*unsafe.Pointer)(static(b.list))))
	n := 0
	for at := first; at != nil; at = next(at) {
		n++
	}
	if n < len(records) {
		return false
	}
	at := first
	for range n - len(records) { // newer ones
		at = next(at)
	}
	for i := range records {
		if !add(at, &records[i]) {
			return false
		}
		at = next(at)
	}
	return true
}

// add adds what a bucket has to come.
func add(at bucket, r *runtime.MemProfileRecord) bool {
	size, deep := word(at, wordSize), word(at, wordDeep)
	var made, gone uint64
	for g := 1; g < groups; g++ {
		made += word(at, header+deep+uint64(g*group+allocated))
		gone += word(at, header+deep+uint64(g*group+freed))
	}
	if word(at, header+deep+allocated) != uint64(r.AllocObjects) || word(at, header+deep+freed) != uint64(r.FreeObjects) {
		return false
	}
	r.AllocObjects += int64(made)
	r.FreeObjects += int64(gone)
	r.AllocBytes, r.FreeBytes = r.AllocObjects*int64(size), r.FreeObjects*int64(size)
	return true
}

//go:norace
//go:nocheckptr
func word(at bucket, i uint64) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Add(at, 8*i)))
}

//go:norace
//go:nocheckptr
func next(at bucket) bucket {
	return atomic.LoadPointer((*unsafe.Pointer)(unsafe.Add(at, 8*wordNext)))
}

// static converts an address outside of Go's heap.
func static(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
