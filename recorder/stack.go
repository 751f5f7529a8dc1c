package recorder

import (
	"runtime"
	"slices"

	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// Stack is the stack of a goroutine at some moment. The zero Stack has no calls.
type Stack struct{ callers registry.Callers }

// capturers is the number of calls between runtime.Callers and the caller of CaptureStack:
// Callers and CaptureStack.
const capturers = 2

// CaptureStack returns the stack of the calling goroutine, for [Event.From]; the zero Stack
// while nothing is recorded. It allocates.
//
//go:noinline
func CaptureStack() Stack {
	r := shard.Current.Load()
	if r == nil {
		return Stack{}
	}
	var calls [shard.MaxDepth]uintptr
	if !r.Walks() {
		return Stack{registry.Callers{Calls: slices.Clone(calls[:runtime.Callers(capturers, calls[:])])}}
	}
	depth, _ := rt.WalkFrames(&calls[0], shard.MaxDepth, 0)
	return Stack{registry.Callers{Calls: slices.Clone(calls[:depth]), Walked: true}}
}
