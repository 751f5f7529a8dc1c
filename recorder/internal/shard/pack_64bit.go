//go:build !386 && !arm && !mips && !mipsle

package shard

import "unsafe"

// Pack turns a value into an [Arg]. It tells the types of [Value] apart by their sizes,
// which the compiler knows: a number costs nothing.
func Pack[T Value](v T) Arg {
	switch p := unsafe.Pointer(&v); unsafe.Sizeof(v) {
	case unsafe.Sizeof(""):
		s := *(*string)(p)
		return Arg{unsafe.StringData(s), uint64(len(s))}
	case 8:
		return Arg{bits: *(*uint64)(p)}
	default: // bool
		return Arg{bits: uint64(*(*uint8)(p))}
	}
}
