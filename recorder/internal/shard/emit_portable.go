//go:build !linux || !(amd64 || arm64) || gprof_portable || go1.28 || race

package shard

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Emit is emitSlow: there is no assembly here, or the race detector could not follow it.
func Emit(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick) {
	emitSlow(h, kind, a, b, now)
}
