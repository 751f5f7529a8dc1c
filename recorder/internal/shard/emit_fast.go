//go:build linux && (amd64 || arm64) && !gprof_portable && !race

package shard

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Emit records a marker of at most two numbers that is no interval, in assembly: that
// is the hot path, a clock and some ten stores. a and b are where the values lie, nil
// if there are fewer fields. now is the time; 0 has it read the counter. What it can't
// do, emitElse does.
//
//go:noescape
func Emit(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick)

// emitUncounted is Emit where the counter is not read: it finds the time, and has emit
// begin again.
//
//go:noescape
func emitUncounted(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick)

// uncounted is the time where the counter is not read; 0: nothing records.
func uncounted() rt.Tick {
	if r := Current.Load(); r != nil {
		return r.clock.Slowly()
	}
	return 0
}

// Assembly goes on there.
var _, _, _ = emitElse, emitUncounted, uncounted
