//go:build linux && (amd64 || arm64) && !gprof_portable

package recorder

import (
	"runtime"
	"unsafe"
)

// The linker lets these functions of the runtime be used, because profilers in
// wide use depend on them.

//go:linkname runtime_getProfLabel runtime/pprof.runtime_getProfLabel
func runtime_getProfLabel() unsafe.Pointer

//go:linkname runtime_setProfLabel runtime/pprof.runtime_setProfLabel
func runtime_setProfLabel(unsafe.Pointer)

// expandInlined turns return addresses, behind a number of frames to skip, into
// one entry for each function, also of those that the compiler inlined.
//
//go:linkname expandInlined runtime.pprof_fpunwindExpand
//go:noescape
func expandInlined(dst, src []uintptr) int

//go:linkname runtime_FrameStartLine runtime/pprof.runtime_FrameStartLine
func runtime_FrameStartLine(f *runtime.Frame) int

// startLine is the line at which the function of f begins, 0 unknown.
func startLine(f *runtime.Frame) int64 { return int64(runtime_FrameStartLine(f)) }
