package mapping

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A file that somebody else cuts short takes the place of mapped bytes away: who
// touches one gets SIGBUS, of which the program dies. A recorder must not bring
// that into its host. So there is a handler for that signal, which puts memory of
// the process' own where the file has none any more, in mappings of chunks and
// stack rings and nowhere else; what is written there is lost. All other faults go
// to whoever had the signal before.
//
// A signal's handler is the process', and so is what it has to find without an
// argument: these variables are global. It stays installed, and finds nothing to
// do when nothing is mapped.

// ErrExposed means that a fault in a mapped file is not caught: who touches one
// has to be prepared for a panic, see [debug.SetPanicOnFault].
var ErrExposed = errors.New("faults are not caught")

// ErrCut means that somebody else has cut a file short that is in use.
var ErrCut = errors.New("file was cut short while in use")

// errMappings is about the table of ranges.
var errMappings = fmt.Errorf("more than %d files are mapped", maxRanges)

// maxRanges is as many mappings as the kernel lets a process have.
const maxRanges = 1 << 16

// faultRange is the place of a mapping; end is 0 when the range is free. The
// handler looks at it at any moment.
type faultRange struct {
	start, end uintptr
	pages      uint32 // that the handler has replaced
	_          uint32
}

var (
	faultRanges [maxRanges]faultRange
	faultsUsed  uint32 // ranges from here on were never in use
	faultsSeen  uint32 // pages that were replaced, ever
	//lint:ignore U1000 the handler's
	faultLock uint32
	//lint:ignore U1000 the handler jumps there
	faultNext uintptr
	//lint:ignore U1000 the handler's, where pages differ in size
	faultPage uintptr

	faultMu     sync.Mutex // held while ranges are taken and given back, and a handler is installed
	freeRanges  []*faultRange
	faultCaught bool // the handler was installed, and tested
)

// Faults is how many pages of mapped files were gone when they were touched,
// ever: somebody else has cut the files short.
func Faults() uint32 { return atomic.LoadUint32(&faultsSeen) }

// CatchFaults sees to it that nobody who touches a mapped chunk or stack ring
// gets a fault, whatever happens to the file. The error, of class [ErrExposed],
// says why that can't be done here. Any goroutine may call it, more than once.
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

// protect has faults in mem caught, if faults are.
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

// expose ends what protect has begun. It comes before the mapping goes: what is
// mapped there afterwards is not ours.
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

// lost is how many bytes of the mapping the file has no more, as far as anybody
// touched them.
func (f *faultRange) lost() int {
	if f == nil {
		return 0
	}
	return int(atomic.LoadUint32(&f.pages)) * os.Getpagesize()
}

// Survive runs f, which touches mapped bytes that nobody protects. If somebody
// has cut the file short the error is [ErrCut]. Any other panic is a bug, which is an
// error as well: the host must not die of it.
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

// IsFault reports whether what recover returned is a fault that
// [debug.SetPanicOnFault] has made a panic.
func IsFault(p any) bool {
	_, fault := p.(interface{ Addr() uintptr })
	return fault
}

// mapProtected is mapFile, protected.
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
