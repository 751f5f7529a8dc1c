package folded

import (
	"strconv"
	"strings"
	"unicode"

	"gprof/stream"
)

// nameOf is the text of a frame.
func nameOf(t *stream.Tables, f stream.Frame) string {
	if f.Function != 0 {
		return clean(t.Strings.At(f.Function))
	}
	address := "0x" + strconv.FormatUint(f.Offset, 16)
	if f.Module == 0 {
		return address
	}
	return clean(t.Modules.At(f.Module).Name) + "+" + address
}

// clean makes a name that has no character which ends a name or a line.
func clean(name string) string {
	if name == "" {
		return "(no name)"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case unicode.IsControl(r):
			return ' '
		}
		return r // what is not UTF-8 has become U+FFFD
	}, name)
}
