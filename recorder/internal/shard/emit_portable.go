//go:build !linux || !(amd64 || arm64) || gprof_portable || race

package shard

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Emit is emitElse: there is no assembly, or the race detector could not follow it.
func Emit(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick) {
	emitElse(h, kind, a, b, now)
}
