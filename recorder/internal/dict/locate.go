package dict

import (
	"runtime"
	"slices"

	"gprof/recorder/internal/rt"
)

// Locate turns the result of runtime.Callers, one entry for each function, into frames, one for each pc: calls that the compiler
// inlined share the pc of the innermost one. The CPU profile does the same, and the two must agree on what lies at a pc.
func Locate(calls []uintptr) (leafFirst []Frame) {
	if len(calls) == 0 {
		return nil
	}
	frames := runtime.CallersFrames(calls)
	var last runtime.Frame
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		s := Function{Name: f.Function, File: f.File, Line: int64(f.Line), Start: rt.StartLine(&f)}
		if n := len(leafFirst); n > 0 && inlined(&last, &f) {
			leafFirst[n-1].Functions = slices.Insert(leafFirst[n-1].Functions, 0, s)
		} else {
			leafFirst = append(leafFirst, Frame{PC: uint64(f.PC), Functions: []Function{s}})
		}
		last = f
	}
	return leafFirst
}

// inlined reports whether callee's code is part of caller's. The runtime gives
// an inlined frame no Func and its caller's entry; a function is not inlined
// into itself. These are the rules of runtime/pprof.
func inlined(callee, caller *runtime.Frame) bool {
	return callee.Func == nil && callee.Entry != 0 && callee.Entry == caller.Entry && callee.Function != caller.Function
}
