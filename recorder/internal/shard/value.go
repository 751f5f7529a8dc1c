package shard

import (
	"time"
	"unicode/utf8"
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// Value is what a field can hold.
type Value interface {
	int | int64 | uint64 | float64 | bool | string | time.Duration | rt.Time
}

// maxText is the longest text, in bytes. Longer ones are cut: a marker is a note, and a
// block must stay small compared with its chunk.
const maxText = 1024

const ellipsis = "…"

// Arg is a field's value on its way to the wire: the bits of a number, or the length and
// address of a string.
type Arg struct {
	text *byte
	bits uint64
}

// set copies b word by word. An assignment would load 16 bytes at once, which stalls the
// processor if the two words have just been stored one by one.
func (a *Arg) set(b *Arg) {
	a.text = b.text
	a.bits = b.bits
}

func (a Arg) string() string { return unsafe.String(a.text, a.bits) }

// argAt is the value of the field at p; nil: none.
func argAt(h registry.Holding, p unsafe.Pointer) Arg {
	switch {
	case p == nil:
		return Arg{}
	case h == registry.HoldsText:
		s := *(*string)(p)
		return Arg{unsafe.StringData(s), uint64(len(s))}
	case h == registry.HoldsBool:
		return Arg{bits: uint64(*(*uint8)(p))}
	case h == registry.HoldsShort:
		return Arg{bits: uint64(*(*int32)(p))}
	}
	return Arg{bits: *(*uint64)(p)}
}

// appendCut appends a length and at most maxText bytes of s. A longer text is cut after a
// whole rune, and ends in an ellipsis.
func appendCut(dst []byte, s string) []byte {
	if len(s) <= maxText {
		return append(rawformat.AppendUint(dst, uint64(len(s))), s...)
	}
	end := maxText - len(ellipsis)
	for end > maxText-len(ellipsis)-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	dst = rawformat.AppendUint(dst, uint64(end+len(ellipsis)))
	return append(append(dst, s[:end]...), ellipsis...)
}

// Typed is a value with its type, for a field of an event with any number of fields.
type Typed struct {
	arg  Arg
	wire rawformat.WireType
}

// Type adds the type to a value.
func Type[T Value](v T) Typed {
	t := Typed{arg: Pack(v)}
	switch any(v).(type) {
	case uint64, bool:
		t.wire = rawformat.WireUint
	case float64:
		t.wire = rawformat.WireFloat
	case string:
		t.wire = rawformat.WireText
	default:
		t.wire = rawformat.WireSint
	}
	return t
}

// size is an upper bound for the bytes of the value.
func (t *Typed) size() uint32 {
	if t.wire == rawformat.WireText {
		return uint32(min(t.arg.bits, maxText)) + 2
	}
	return 10
}
