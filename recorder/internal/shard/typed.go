package shard

import "gprof/rawformat"

// Typed is a value for a field of an event with any number of them, which says what it
// is.
type Typed struct {
	arg  Arg
	wire rawformat.WireType
}

// Type makes a value tell its type.
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

// size is at least what the value takes.
func (t *Typed) size() uint32 {
	if t.wire == rawformat.WireText {
		return uint32(min(t.arg.bits, MaxText)) + 2
	}
	return 10
}
