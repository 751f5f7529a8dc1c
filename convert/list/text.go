package list

import (
	"math"
	"strconv"
	"time"

	"gprof/stream"
)

// textOf is a value as people read it, without rounding; "" if there is none.
func textOf(c *stream.Column, i int, f stream.Format) string {
	bits := c.BitsAt(i)
	switch t := c.TypeAt(i); {
	case t == stream.Null:
		return ""
	case t.Textual():
		return string(c.TextAt(i))
	case t == stream.Float:
		return strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64)
	case f == stream.FormatBool:
		return strconv.FormatBool(bits != 0)
	case f == stream.FormatHexadecimal:
		return "0x" + strconv.FormatUint(bits, 16)
	case f == stream.FormatNanoseconds && bits < math.MaxInt64:
		return time.Duration(bits).String()
	case f == stream.FormatTime:
		return time.Unix(0, int64(bits)).UTC().Format(time.RFC3339Nano)
	case t == stream.Int:
		return strconv.FormatInt(int64(bits), 10)
	}
	return strconv.FormatUint(bits, 10)
}
