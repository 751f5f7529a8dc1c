//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package census

import (
	"errors"

	"gprof/recorder/internal/rt"
)

const (
	maxCalls  = 64
	firstRead = 2048     // bytes; most stacks of goroutines that wait are shorter
	maxRead   = 32 << 10 // bytes
	belowTop  = 8        // on arm64 the innermost frame pointer is that far below the stack pointer
)

var errStack = errors.New("the stack makes no sense")

// stackReader reads stacks of goroutines that wait, along their frame pointers.
type stackReader struct {
	text, etext uintptr // of the program's code
	calls       [maxCalls]uintptr
	words       [maxRead / 8]uint64
}

// read returns the return addresses of a goroutine's stack, leaf first, valid until the next call.
// The stack may change or be freed meanwhile; then the goroutine's state has changed, too.
func (r *stackReader) read(s *state) ([]uintptr, error) {
	if !s.onStack(s.sp) || s.sp%8 != 0 || !r.isCode(s.pc) {
		return nil, errStack
	}
	r.calls[0] = s.pc
	if s.bp == 0 { // it has not run yet, so this is the beginning of its function
		r.calls[0]++
		return r.calls[:1], nil
	}
	top := s.sp
	if s.sp-s.bp == belowTop && s.onStack(s.bp) {
		top = s.bp
	}
	size := min(s.hi-top, firstRead)
	calls, whole := r.walk(s, top, size)
	if !whole && size < s.hi-top {
		calls, whole = r.walk(s, top, min(s.hi-top, maxRead))
	}
	if len(calls) == 1 && !whole {
		return nil, errStack
	}
	return calls, nil
}

// walk copies so many bytes from the top of the stack and follows the frame pointers in the copy.
// Whole: they led to the root, or as far as asked for.
func (r *stackReader) walk(s *state, top, size uintptr) (calls []uintptr, whole bool) {
	words := rt.Memory(r.words[:size/8])
	if words.Read(top) != nil {
		return r.calls[:1], false
	}
	least, n := top, 1
	for bp := s.bp; n < maxCalls; n++ {
		if bp == 0 {
			return r.calls[:n], true
		}
		if bp < least || bp%8 != 0 || !s.onStack(bp+8) || bp+16 > top+size {
			return r.calls[:n], false
		}
		pc := uintptr(words[(bp+8-top)/8])
		if !r.isCode(pc) {
			return r.calls[:n], false
		}
		r.calls[n] = pc
		least, bp = bp+16, uintptr(words[(bp-top)/8])
	}
	return r.calls[:n], true
}

func (r *stackReader) isCode(pc uintptr) bool { return r.text <= pc && pc < r.etext }
