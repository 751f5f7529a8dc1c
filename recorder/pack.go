//go:build !386 && !arm && !mips && !mipsle

package recorder

import "unsafe"

// pack relies on the sizes of the types of [Value], which the compiler knows: a
// number costs nothing.
func pack[T Value](v T) arg {
	switch p := unsafe.Pointer(&v); unsafe.Sizeof(v) {
	case unsafe.Sizeof(""):
		s := *(*string)(p)
		return arg{unsafe.StringData(s), uint64(len(s))}
	case 8:
		return arg{bits: *(*uint64)(p)}
	default: // bool
		return arg{bits: uint64(*(*uint8)(p))}
	}
}
