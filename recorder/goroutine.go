//go:build linux && (amd64 || arm64) && !gprof_portable

package recorder

import (
	"bytes"
	"runtime"
	"strconv"
)

const (
	searchG = 400 // bytes of a g, which is larger
	probes  = 5   // goroutines that have to agree
)

// findGoroutine finds where in a g the number of its goroutine lies, which is not
// promised: at the only place where it does for each of several. 0 if there is no
// such place.
func findGoroutine() uintptr {
	var numbers candidates
	for range probes {
		seen := make(chan struct{})
		go func() {
			numbers.meet(ownG(), goid())
			close(seen)
		}()
		<-seen
	}
	return numbers.only()
}

// ownG is the running goroutine's g, but for its first word.
func ownG() memory {
	words := make(memory, searchG/8)
	for i := range words {
		words[i] = goroutineAt(uintptr(8 * i))
	}
	return words
}

// memory is some words of what lies in memory.
type memory []uint64

// candidates are offsets at which the value looked for was found each time.
type candidates struct {
	at   []uintptr
	seen bool
}

func (c *candidates) meet(words memory, value uint64) {
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

// only is the offset if there is one, and 0 if there are none or more.
func (c *candidates) only() uintptr {
	if len(c.at) != 1 {
		return 0
	}
	return c.at[0]
}

// goid is the running goroutine's number, as a traceback shows it.
func goid() uint64 {
	var b [64]byte
	text := bytes.TrimPrefix(b[:runtime.Stack(b[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(text, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return ^uint64(0) // found nowhere
	}
	return id
}
