//go:build !linux || !(amd64 || arm64) || gprof_portable || go1.28

package mapping

import (
	"errors"
	"unsafe"
)

var errNoHandler = errors.New("not built for it")

func seizeFaults() error { return errNoHandler }

func faultsSeized() bool { return false }

func addressOf(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }
