//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package rt

import (
	"reflect"
	"runtime"
	"sync"
	"testing"
	"unsafe"
)

// The route leads to the number of the processor, on each of them.
func TestRoute(t *testing.T) {
	r, err := FindRoute()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for range 1000 {
				want := uint32(Pin())
				got := processorBy(r.M, r.P)
				Unpin()
				if got != want {
					t.Errorf("processor %d, want %d", got, want)
					return
				}
			}
		})
	}
	all.Wait()
}

// Code that does anything else is not accepted: each bit either has to match or is part of an offset.
func TestRouteOfOtherCode(t *testing.T) {
	code := unsafe.Slice((*byte)(reflect.ValueOf(Pin).UnsafePointer()), procPinSize)
	bits, refused := 8*len(code), 0
	for i := range bits {
		other := append([]byte(nil), code...)
		other[i/8] ^= 1 << (i % 8)
		if _, ok := readRoute(other); !ok {
			refused++
		}
	}
	if refused < bits/2 || refused == bits {
		t.Errorf("%d of %d changes are noticed", refused, bits)
	}
}
