//go:build !linux || !(amd64 || arm64) || gprof_portable || race

package recorder

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// emit is emitElse: there is no assembly, or the race detector could not follow it.
func emit(h handle, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick) {
	emitElse(h, kind, a, b, now)
}
