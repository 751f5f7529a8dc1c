//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package rt

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	SizeOfG = 400 // bytes of a g, which is larger
	Probes  = 5   // how many goroutines have to agree
)

// FindGoroutine finds the offset of the goroutine's number in its g, which Go does not promise: it is the only offset
// with the right number in each of several goroutines. 0 if there is no such offset.
func FindGoroutine() uintptr {
	type probe struct {
		g      Memory
		number uint64
	}
	seen := make(chan probe, Probes) // all at once, so that the caller waits once
	for range Probes {
		go func() { seen <- probe{CopyOfG(), GoroutineNumber()} }()
	}
	var numbers Candidates
	for range Probes {
		p := <-seen
		numbers.Meet(p.g, p.number)
	}
	return numbers.Only()
}

// GoroutineOffset is what FindGoroutine returns, which never changes; 0 if it is to be avoided.
func GoroutineOffset() uintptr {
	if Goroutines.Err() != nil {
		return 0
	}
	return goroutineOffset()
}

var goroutineOffset = sync.OnceValue(FindGoroutine)

// FindStart finds the offset, in a g, of the address where the goroutine began: that of the function of its go
// statement. 0 if there is no such offset.
func FindStart() uintptr {
	if Goroutines.Err() != nil {
		return 0
	}
	var starts Candidates
	var begin func()
	seen := make(chan struct{})
	begin = func() {
		runtime.Gosched() // so that the address to go on at is another one
		starts.Meet(CopyOfG(), uint64(**(**uintptr)(unsafe.Pointer(&begin))))
		close(seen)
	}
	go begin()
	<-seen
	return starts.Only()
}

// CopyOfG is the running goroutine's g, except its first word, without a system call.
func CopyOfG() Memory {
	words := make(Memory, SizeOfG/8)
	for i := range words {
		words[i] = GoroutineAt(uintptr(8 * i))
	}
	return words
}

// Memory is a copy of some words of memory.
type Memory []uint64

// Candidates are offsets at which the value looked for was found each time.
type Candidates struct {
	at   []uintptr
	seen bool
}

func (c *Candidates) Meet(words Memory, value uint64) {
	var now []uintptr
	for i, w := range words {
		if w == value && (!c.seen || contains(c.at, uintptr(8*i))) {
			now = append(now, uintptr(8*i))
		}
	}
	c.at, c.seen = now, true
}

func contains(all []uintptr, x uintptr) bool {
	for _, y := range all {
		if x == y {
			return true
		}
	}
	return false
}

// Only is the offset if there is one, and 0 if there are none or more.
func (c *Candidates) Only() uintptr {
	if len(c.at) != 1 {
		return 0
	}
	return c.at[0]
}

// GoroutineNumber is the running goroutine's number, as a traceback shows it.
func GoroutineNumber() uint64 {
	var b [64]byte
	text := bytes.TrimPrefix(b[:runtime.Stack(b[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(text, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return ^uint64(0) // found nowhere
	}
	return id
}

// Bytes are the same memory, nil for none.
func (m Memory) Bytes() []byte {
	if m == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&m[0])), 8*len(m))
}

// ReadMemory reads memory through the kernel, so that a wrong address causes no fault; nil: it
// can't be read.
func ReadMemory(at uintptr, bytes int) Memory {
	w := make(Memory, bytes/8)
	if w.Read(at) != nil {
		return nil
	}
	return w
}

// Read fills the copy with what lies at an address, through the kernel.
func (m Memory) Read(at uintptr) error {
	bytes := 8 * len(m)
	local := [...]unix.Iovec{{Base: (*byte)(unsafe.Pointer(&m[0]))}}
	local[0].SetLen(bytes)
	n, err := unix.ProcessVMReadv(ownPid, local[:], []unix.RemoteIovec{{Base: at, Len: bytes}}, 0)
	if err == nil && n == bytes {
		return nil
	}
	if err == unix.EFAULT {
		return err // nothing is there
	}
	file, err := ownMemory() // containers may forbid the call
	if err != nil {
		return err
	}
	_, err = file.ReadAt(m.Bytes(), int64(at))
	return err
}

// ownMemory is opened when it is first needed, and stays open.
var ownMemory = sync.OnceValues(func() (*os.File, error) { return os.Open("/proc/self/mem") })

var ownPid = unix.Getpid()
