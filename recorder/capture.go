package recorder

import (
	"gprof/recorder/internal/rt"
	"runtime"
	"slices"
)

// Stack is where a goroutine was. The zero Stack is that of nothing.
type Stack struct {
	calls  []uintptr // never nil but for nothing
	walked bool      // by frame pointers
}

// capturers is the number of calls between runtime.Callers and who captures a
// stack: Callers and CaptureStack.
const capturers = 2

// CaptureStack is the stack of the calling goroutine, for [Event.From]. It is that
// of nothing while nothing is recorded. It allocates.
//
//go:noinline
func CaptureStack() Stack {
	r := recording.Load()
	if r == nil {
		return Stack{}
	}
	var calls [maxDepth]uintptr
	if r.unwalked != nil {
		return Stack{calls: slices.Clone(calls[:runtime.Callers(capturers, calls[:])])}
	}
	depth, _ := rt.WalkFrames(&calls[0], maxDepth, 0)
	return Stack{slices.Clone(calls[:depth]), true}
}

// in is the stack as r has it: none if r would have captured it in another way.
func (s *Stack) in(r *Recording) []uintptr {
	if s.walked != (r.unwalked == nil) {
		return nil
	}
	return s.calls
}

// from is the same definition, of markers with that stack.
func (d *definition) from(s Stack) *definition {
	if d == nil || s.calls == nil {
		return d
	}
	given := *d
	given.given, given.stack, given.plain, given.plainSeq = s, true, false, ^uint32(0)
	return &given
}
