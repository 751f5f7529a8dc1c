//go:build !linux || !(amd64 || arm64) || gprof_portable

package recorder

import (
	"errors"
	"runtime"
)

// The twins of fast.go: what Go promises everywhere. See there.

const fast = false

func procPin() int { return 0 }

func procUnpin() {}

const kernelCounter = "none"

func readCounter() uint64 { return 0 }

func goroutineAt(uintptr) uint64 { return 0 }

func findRoute() (route, error) { return route{}, errPortable }

func findGoroutine() uintptr { return 0 }

// nanotime is CLOCK_MONOTONIC in ns.
func (c *clock) nanotime() tick { return tick(c.base) + tick(Now()) }

var errPortable = errors.New("not built for it")

func counterTrusted() error { return errPortable }

func walkFrames(*uintptr, int, int) (depth int, sum uint64) { return 0, 0 }

// startLine is the line at which the function of f begins: Go does not tell.
func startLine(*runtime.Frame) int64 { return 0 }

func expandInlined(dst, src []uintptr) int { return 0 }

func registerBarrier() error { return errPortable }

func barrier() error { return errPortable }
