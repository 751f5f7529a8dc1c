//go:build linux && (amd64 || arm64) && !gprof_portable && !race

package recorder

import (
	"unsafe"

	"gprof/rawformat"
)

// emit records a marker of at most two numbers that is no interval, in assembly: that
// is the hot path, a clock and some ten stores. a and b are where the values lie, nil
// if there are fewer fields. now is the time; 0 has it read the counter. What it can't
// do, emitElse does.
//
//go:noescape
func emit(h handle, kind rawformat.Kind, a, b unsafe.Pointer, now tick)

// emitUncounted is emit where the counter is not read.
func emitUncounted(h handle, kind rawformat.Kind, a, b unsafe.Pointer, now tick) {
	if r := recording.Load(); r != nil {
		emit(h, kind, a, b, r.clock.slowly())
	}
}

// Assembly goes on there.
var _, _ = emitElse, emitUncounted
