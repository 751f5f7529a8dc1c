//go:build 386 || arm || mips || mipsle

package shard

import (
	"math"
	"time"
	"unsafe"
)

// Pack turns a value into an [Arg]. Here a string is as large as an int64, so it has to ask
// for the type.
func Pack[T Value](v T) (a Arg) {
	switch v := any(v).(type) {
	case int:
		a.bits = uint64(v)
	case int64:
		a.bits = uint64(v)
	case uint64:
		a.bits = v
	case time.Duration:
		a.bits = uint64(v)
	case float64:
		a.bits = math.Float64bits(v)
	case bool:
		if v {
			a.bits = 1
		}
	case string:
		a = Arg{unsafe.StringData(v), uint64(len(v))}
	}
	return a
}
