package mapping

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// When a file is cut short by others, touching a mapped byte that is gone raises SIGBUS,
// and the program dies. A recorder must not do that to its host. So there is a handler for
// that signal, which replaces the missing pages by anonymous memory, but only in mappings
// of chunks and stack rings; bytes that are written there are lost. All other faults go to
// the handler that was installed before.
//
// A signal handler belongs to the process and gets no argument of ours, so the variables
// that it uses are global. It stays installed, and does nothing when nothing is mapped.

// ErrExposed means that faults in mapped files are not caught: code that touches mapped
// bytes must be prepared for a panic, see [debug.SetPanicOnFault].
var ErrExposed = errors.New("faults are not caught")

// ErrCut means that a file was cut short by others while it was in use.
var ErrCut = errors.New("file was cut short while in use")

// errMappings is about the table of ranges.
var errMappings = fmt.Errorf("more than %d files are mapped", maxRanges)

// maxRanges is how many mappings the kernel lets a process have.
const maxRanges = 1 << 16

// faultRange is the address range of a mapping; end is 0 when the entry is free. The handler
// may read it at any moment.
type faultRange struct {
	start, end uintptr
	pages      uint32 // that the handler has replaced
	_          uint32
}

var (
	faultRanges [maxRanges]faultRange
	faultsUsed  uint32 // ranges from here on were never in use
	faultsSeen  uint32 // pages that were ever replaced
	//lint:ignore U1000 the handler's
	faultLock uint32
	//lint:ignore U1000 the handler jumps to it
	faultNext uintptr
	//lint:ignore U1000 the handler's, where pages differ in size
	faultPage uintptr

	faultMu     sync.Mutex // held while ranges are taken and released, and a handler is installed
	freeRanges  []*faultRange
	faultCaught bool // the handler was installed, and tested
)

// Faults is how many pages of mapped files were ever found missing when they were touched,
// because the files were cut short by others.
func Faults() uint32 { return atomic.LoadUint32(&faultsSeen) }

// CatchFaults makes sure that touching a mapped chunk or stack ring raises no fault,
// whatever happens to the file. The error, of class [ErrExposed], says why that is not
// possible here. Any goroutine may call it, more than once.
func CatchFaults() error {
	faultMu.Lock()
	defer faultMu.Unlock()
	if faultCaught && faultsSeized() {
		return nil
	}
	if err := seizeFaults(); err != nil {
		return fmt.Errorf("%w: %w", ErrExposed, err)
	}
	faultCaught = true
	return nil
}

// protect makes the handler catch faults in mem.
func protect(mem []byte) (*faultRange, error) {
	faultMu.Lock()
	defer faultMu.Unlock()
	return protectLocked(mem)
}

func protectLocked(mem []byte) (*faultRange, error) {
	f, err := takeRange()
	if err != nil {
		return nil, err
	}
	start := addressOf(mem)
	atomic.StoreUint32(&f.pages, 0)
	atomic.StoreUintptr(&f.start, start)
	atomic.StoreUintptr(&f.end, start+uintptr(len(mem)))
	return f, nil
}

func takeRange() (*faultRange, error) {
	if n := len(freeRanges); n > 0 {
		f := freeRanges[n-1]
		freeRanges = freeRanges[:n-1]
		return f, nil
	}
	if faultsUsed == maxRanges {
		return nil, errMappings
	}
	atomic.AddUint32(&faultsUsed, 1)
	return &faultRanges[faultsUsed-1], nil
}

// expose undoes protect. It must be called before the mapping is removed, as the next one
// at that address may not be ours.
func (f *faultRange) expose() {
	faultMu.Lock()
	defer faultMu.Unlock()
	f.exposeLocked()
}

func (f *faultRange) exposeLocked() {
	atomic.StoreUintptr(&f.end, 0)
	atomic.StoreUintptr(&f.start, 0)
	freeRanges = append(freeRanges, f)
}

// lost is how many bytes of the mapping are gone from the file, as far as this was noticed
// by touching them.
func (f *faultRange) lost() int {
	if f == nil {
		return 0
	}
	return int(atomic.LoadUint32(&f.pages)) * os.Getpagesize()
}

// Survive runs f, which touches mapped bytes that are not protected. If the file was cut
// short, the error is [ErrCut]. Any other panic is a bug, which is an error as well: the
// host must not die of it.
func Survive(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if err = ErrCut; !IsFault(p) {
				err = fmt.Errorf("internal error: %v", p)
			}
		}
	}()
	return f()
}

// IsFault reports whether a value that recover returned is a fault that
// [debug.SetPanicOnFault] turned into a panic.
func IsFault(p any) bool {
	_, fault := p.(interface{ Addr() uintptr })
	return fault
}

// mapProtected maps a file and protects the mapping.
func mapProtected(f *os.File, size int) (mem []byte, guard *faultRange, err error) {
	if mem, err = MapFile(f, size); err != nil {
		return nil, nil, err
	}
	if guard, err = protect(mem); err != nil {
		return nil, nil, errors.Join(err, UnmapFile(mem))
	}
	return mem, guard, nil
}

// unmapProtected undoes mapProtected.
func unmapProtected(mem []byte, guard *faultRange) error {
	guard.expose()
	return UnmapFile(mem)
}
