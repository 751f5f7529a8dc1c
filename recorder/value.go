package recorder

import (
	"time"
	"unicode/utf8"
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// Value is what a field of an event can hold.
type Value interface {
	int | int64 | uint64 | float64 | bool | string | time.Duration | rt.Time
}

// maxString is the longest string argument, in bytes. Longer ones are cut: a
// marker is a note, and a block must stay small beside its chunk.
const maxString = 1024

const ellipsis = "…"

// arg is a field's value on its way to the wire: the bits of a number, or a
// string's length and address.
type arg struct {
	text *byte
	bits uint64
}

// set copies b word by word. An assignment copies 16 bytes at once, for which a
// processor waits if the words have just been stored one by one.
func (a *arg) set(b *arg) {
	a.text = b.text
	a.bits = b.bits
}

func (a arg) string() string { return unsafe.String(a.text, a.bits) }

// heldAt is the value of a field at p; nil: none.
func heldAt(h registry.Holding, p unsafe.Pointer) arg {
	switch {
	case p == nil:
		return arg{}
	case h == registry.HoldsText:
		s := *(*string)(p)
		return arg{unsafe.StringData(s), uint64(len(s))}
	case h == registry.HoldsBool:
		return arg{bits: uint64(*(*uint8)(p))}
	case h == registry.HoldsShort:
		return arg{bits: uint64(*(*int32)(p))}
	}
	return arg{bits: *(*uint64)(p)}
}

// appendCut appends a length and at most [maxString] bytes of s. What is longer
// ends in an ellipsis after a whole rune.
func appendCut(dst []byte, s string) []byte {
	if len(s) <= maxString {
		return append(rawformat.AppendUint(dst, uint64(len(s))), s...)
	}
	end := maxString - len(ellipsis)
	for end > maxString-len(ellipsis)-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	dst = rawformat.AppendUint(dst, uint64(end+len(ellipsis)))
	return append(append(dst, s[:end]...), ellipsis...)
}
