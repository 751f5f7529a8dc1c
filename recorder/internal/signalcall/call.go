//go:build linux && (amd64 || arm64)

// Package signalcall calls a signal's handler as the kernel does, for tests that make
// up what was interrupted.
package signalcall

import "unsafe"

// Call calls the C function at handler with a signal, what is said of it, and what it
// interrupts. It runs on the stack of the caller.
//
//go:noescape
func Call(handler uintptr, signal int, info, context unsafe.Pointer)
