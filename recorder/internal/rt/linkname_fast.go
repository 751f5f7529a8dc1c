//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package rt

import (
	"runtime"
	"unsafe"
)

// The linker permits the use of these functions of the runtime, because widely used profilers depend on them.

//go:linkname ProfLabel runtime/pprof.runtime_getProfLabel
func ProfLabel() unsafe.Pointer

//go:linkname SetProfLabel runtime/pprof.runtime_setProfLabel
func SetProfLabel(unsafe.Pointer)

// ExpandInlined turns return addresses, which follow a number of frames to skip, into one entry for each function,
// including those that the compiler inlined.
//
//go:linkname ExpandInlined runtime.pprof_fpunwindExpand
//go:noescape
func ExpandInlined(dst, src []uintptr) int

//go:linkname runtime_FrameStartLine runtime/pprof.runtime_FrameStartLine
func runtime_FrameStartLine(f *runtime.Frame) int

// StartLine is the line at which the function of f begins, 0 if it is unknown.
func StartLine(f *runtime.Frame) int64 { return int64(runtime_FrameStartLine(f)) }
