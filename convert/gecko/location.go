package gecko

import (
	"regexp"
	"strconv"
	"strings"

	"gprof/stream"
)

// appendLocation appends the location string of a merged frame. The viewer
// reads it with patterns:
//
//	0x…                     an address, looked up in the modules
//	name (in module)        a native function
//	name (place:1), name:1  a JavaScript function
//	anything else           a label
//
// If a bare name stands before a native function of that name in one thread,
// the viewer takes one for the other; so the bare one gets a suffix.
func (c *code) appendLocation(dst []byte, f stream.Frame) []byte {
	name := c.tables.Strings.At(f.Function)
	switch {
	case f.Label && c.native[f.Function]:
		return append(appendName(dst, name), " (label)"...)
	case f.Label:
		return appendLabel(dst, name)
	case f.Function == 0:
		return c.appendAddress(dst, f)
	case f.Script:
		return c.appendScript(dst, name, f)
	case f.Module != 0:
		return appendNative(dst, name, c.tables.Modules.At(f.Module).Name)
	case c.native[f.Function]:
		return appendNative(dst, name, "")
	}
	return appendLabel(dst, name)
}

// appendAddress appends an address that leads back to module and offset.
func (c *code) appendAddress(dst []byte, f stream.Frame) []byte {
	address := f.Offset
	if r := c.ranges[f.Module]; f.Offset < r.end-r.start {
		address += r.start
	}
	return strconv.AppendUint(append(dst, "0x"...), address, 16)
}

// appendScript appends the location of a function of a script: where it begins,
// which tells it from others of that name.
func (c *code) appendScript(dst []byte, name string, f stream.Frame) []byte {
	dst = append(appendName(dst, name), " ("...)
	if f.File != 0 {
		dst = append(dst, c.tables.Strings.At(f.File)...)
	} else {
		dst = append(dst, "unknown"...)
	}
	dst = strconv.AppendInt(append(dst, ':'), int64(f.Start), 10)
	if f.StartColumn != 0 {
		dst = strconv.AppendInt(append(dst, ':'), int64(f.StartColumn), 10)
	}
	return append(dst, ')')
}

// appendNative appends the location of a function of a module.
func appendNative(dst []byte, name, module string) []byte {
	if module == "" {
		module = "unknown"
	}
	dst = append(appendName(dst, name), " (in "...)
	// A bracket would end the module's name.
	dst = append(dst, strings.ReplaceAll(module, ")", "]")...)
	return append(dst, ')')
}

// appendLabel appends the location of something that is no code. A space
// behind it keeps the viewer from reading code in it.
func appendLabel(dst []byte, name string) []byte {
	dst = appendName(dst, name)
	if likeCode.MatchString(name) {
		dst = append(dst, ' ')
	}
	return dst
}

// likeCode matches what the viewer takes for a native or a JavaScript function.
var likeCode = regexp.MustCompile(`(?s)(:[0-9]+|:[0-9]+\)|\(in [^)]*\)( \+ [0-9]+| \(.*:.*\))?)(\[[0-9]+\])?$`)

// appendName appends the name of a function or a label. A space before it
// keeps the viewer from reading an address.
func appendName(dst []byte, name string) []byte {
	switch {
	case name == "":
		return append(dst, "(no name)"...)
	case strings.HasPrefix(name, "0x"):
		dst = append(dst, ' ')
	}
	return append(dst, name...)
}
