package rt

import (
	"errors"
	"math/bits"
	"runtime"
)

var errWalk = errors.New("frame pointers lead elsewhere than runtime.Callers")

// TryWalk is the self-test of WalkFrames: here it must find the same calls as the runtime.
//
//go:noinline
func TryWalk() error {
	if !fast {
		return errors.ErrUnsupported
	}
	if err := Frames.Err(); err != nil {
		return err
	}
	const most = 64
	var walked, called [most]uintptr
	depth, _ := WalkFrames(&walked[0], most, 0)
	calls := Expand(walked[:depth])
	n := runtime.Callers(2, called[:])
	for i := range min(n, most/MaxInlined) {
		if i >= len(calls) || calls[i] != called[i] {
			return errWalk
		}
	}
	return nil
}

// Expand returns one entry for each function, as runtime.Callers does, including those that were inlined.
func Expand(calls []uintptr) []uintptr {
	dst := make([]uintptr, MaxInlined*len(calls))
	return dst[:ExpandInlined(dst, append([]uintptr{0}, calls...))]
}

// MaxInlined is how many functions a call frame may stand for, on average.
const MaxInlined = 4

// MaxChain is more than the number of functions that are inlined into one another at one call, as a rule. With more, the
// call is taken to be the program's.
const MaxChain = 16

// IsWrapper reports whether a call is from code that the compiler generated, such as a pointer's method that calls the
// value's. The runtime skips such calls.
func IsWrapper(call uintptr) bool {
	functions := [MaxChain]uintptr{}
	return ExpandInlined(functions[:], []uintptr{0, call}) == 0
}

// IsCut reports whether a stack, leaf first, has as many calls as it may have and does not end where goroutines begin. It
// allocates nothing.
func IsCut(calls []uintptr, most int) bool {
	if len(calls) < most {
		return false
	}
	functions := [MaxChain]uintptr{}
	if ExpandInlined(functions[:], []uintptr{0, calls[len(calls)-1]}) != 1 {
		return true
	}
	f := runtime.FuncForPC(functions[0] - 1)
	return f == nil || f.Name() != "runtime.goexit"
}

// SumOf combines all pcs, depending on their order, into a sum for the stack's hash.
func SumOf(calls []uintptr) (sum uint64) {
	for _, pc := range calls {
		sum = bits.RotateLeft64(sum, 7) + uint64(pc)
	}
	return sum
}
