//go:build 386 || arm || mips || mipsle

package recorder

import (
	"math"
	"time"
	"unsafe"
)

// pack has to ask for the type: a string is as large as an int64 here.
func pack[T Value](v T) (a arg) {
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
		a = arg{unsafe.StringData(v), uint64(len(v))}
	}
	return a
}
