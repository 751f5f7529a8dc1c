//go:build linux && (amd64 || arm64)

// Package signalcall calls a signal's handler as the kernel does, for tests that make up the interrupted state.
package signalcall

import "unsafe"

// Call calls the C function at handler with a signal, its siginfo and the interrupted context. It runs on the stack of the caller.
//
//go:noescape
func Call(handler uintptr, signal int, info, context unsafe.Pointer)
