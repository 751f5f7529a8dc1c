//go:build !linux || !(amd64 || arm64) || gprof_portable || go1.28

package rt

import (
	"errors"
	"runtime"
)

// The portable counterparts of fast.go, with nothing but what Go promises. See there.

const fast = false

func Pin() int { return 0 }

func Unpin() {}

const kernelCounter = "none"

func ReadCounter() uint64 { return 0 }

func GoroutineAt(uintptr) uint64 { return 0 }

func FindRoute() (Route, error) { return Route{}, errPortable }

func FindGoroutine() uintptr { return 0 }

func GoroutineOffset() uintptr { return 0 }

func FindStart() uintptr { return 0 }

// nanotime is CLOCK_MONOTONIC in ns.
func (c *Clock) nanotime() Tick { return Tick(c.Base) + Tick(Now()) }

var errPortable = errors.New("not built for it")

func counterTrusted() error { return errPortable }

func WalkFrames(*uintptr, int, int) (depth int, sum uint64) { return 0, 0 }

// StartLine is the line at which the function of f begins, which Go does not tell.
func StartLine(*runtime.Frame) int64 { return 0 }

func ExpandInlined(dst, src []uintptr) int { return 0 }

func RegisterBarrier() error { return errPortable }

func Barrier() error { return errPortable }
