//go:build linux && (amd64 || arm64) && !gprof_portable

package rt

import (
	"errors"
	"reflect"
	"unsafe"
)

// processorBy is the number of the running goroutine's processor, by a route that is
// right.
//
//go:noescape
func processorBy(m, p uintptr) uint32

var errRoute = errors.New("the runtime's procPin is another one")

// FindRoute reads the route out of the runtime's procPin, which goes the same way:
// no offset is promised, but what the code does is what it does. It must be as it is
// known here but for the offsets, and then lead where procPin leads.
func FindRoute() (Route, error) {
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
