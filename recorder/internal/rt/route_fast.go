//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package rt

import (
	"errors"
	"reflect"
	"unsafe"
)

// processorBy is the number of the running goroutine's processor, found by a correct route.
//
//go:noescape
func processorBy(m, p uintptr) uint32

var errRoute = errors.New("the runtime's procPin is another one")

// FindRoute reads the route out of the code of the runtime's procPin, which takes the same route: Go promises no offsets,
// but the code has them. Except for the offsets the code must be as known here, and the route must give the same result
// as procPin.
func FindRoute() (Route, error) {
	if err := Writers.Err(); err != nil {
		return Route{}, err
	}
	code := unsafe.Slice((*byte)(reflect.ValueOf(Pin).UnsafePointer()), procPinSize)
	found, ok := readRoute(code)
	if !ok {
		return Route{}, errRoute
	}
	pinned := uint32(Pin())
	again := processorBy(found.M, found.P)
	Unpin()
	if again != pinned {
		return Route{}, errRoute
	}
	return found, nil
}
