//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28 && !race

package shard

import (
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Emit records a marker of at most two numbers that is no interval. It is assembly, because
// it is the hot path: a clock and some ten stores. a and b point to the values, nil for
// fields that the event does not have. now is the time; if it is 0 Emit reads the counter.
// Markers that it can't record it passes to emitSlow.
//
//go:noescape
func Emit(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick)

// emitUncounted is Emit where the counter is not to be read: it finds the time, and starts
// Emit again with it.
//
//go:noescape
func emitUncounted(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now rt.Tick)

// uncounted is the time where the counter is not to be read; 0: nothing records.
func uncounted() rt.Tick {
	if r := Current.Load(); r != nil {
		return r.clock.Slowly()
	}
	return 0
}

// Assembly refers to these.
var _, _, _ = emitSlow, emitUncounted, uncounted
