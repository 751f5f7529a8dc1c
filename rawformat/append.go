package rawformat

import "math"

// Zigzag maps small values of either sign to small values.
func Zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// AppendUint appends a U.
func AppendUint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// UintSize is the number of bytes that AppendUint appends.
func UintSize(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// AppendSint appends an S.
func AppendSint(dst []byte, v int64) []byte { return AppendUint(dst, Zigzag(v)) }

// AppendFixed appends an X.
func AppendFixed(dst []byte, v uint64) []byte { return le.AppendUint64(dst, v) }

// AppendText appends a B; s must not be longer than [MaxText].
func AppendText[T string | []byte](dst []byte, s T) []byte {
	return append(AppendUint(dst, uint64(len(s))), s...)
}

// AppendPCs appends a P; there must be at most [MaxStack].
func AppendPCs(dst []byte, pcs []uint64) []byte {
	dst = AppendUint(dst, uint64(len(pcs)))
	for i, pc := range pcs {
		if i == 0 {
			dst = AppendUint(dst, pc)
		} else {
			dst = AppendSint(dst, int64(pc-pcs[i-1]))
		}
	}
	return dst
}

// AppendBlock appends a block with that body: kind and fields.
func AppendBlock(dst, body []byte) []byte { return AppendText(dst, body) }

// AppendRecord appends a record: a block with that body and its CRC.
func AppendRecord(dst, body []byte, instance uint64, generation uint32) []byte {
	at := len(dst)
	dst = AppendBlock(dst, body)
	return le.AppendUint32(dst, PageCRC(instance, uint64(generation), dst[at:]))
}

// Record reads one record and verifies its CRC. ok is false at the end and on
// an error. A record whose CRC differs is returned with intact false: its
// length was plausible, so that the next one can be tried.
func (c *Cursor) Record(instance uint64, generation uint32) (k Kind, fields Cursor, intact, ok bool) {
	at := c.at
	k, fields, ok = c.Block()
	if !ok {
		return 0, Cursor{}, false, false
	}
	block := c.b[at:c.at]
	sum := c.Bytes(4, "record checksum")
	if c.err != nil {
		return 0, Cursor{}, false, false
	}
	return k, fields, le.Uint32(sum) == PageCRC(instance, uint64(generation), block), true
}

// Arg is one argument of an event.
type Arg struct {
	Wire WireType
	Num  uint64 // the value's bits: int64, uint64 or float64; 0 for text
	Text []byte // of WireText
}

// Int, Uint64, Float and String make arguments.
func Int(v int64) Arg     { return Arg{Wire: WireSint, Num: uint64(v)} }
func Uint64(v uint64) Arg { return Arg{Wire: WireUint, Num: v} }
func Float(v float64) Arg { return Arg{Wire: WireFloat, Num: math.Float64bits(v)} }
func String(s string) Arg { return Arg{Wire: WireText, Text: []byte(s)} }

// Shape is the shape of arguments of these wire types, at most [MaxArgs].
func Shape(wires ...WireType) uint64 {
	shape := uint64(1)
	for i := len(wires) - 1; i >= 0; i-- {
		shape = shape<<2 | uint64(wires[i]&3)
	}
	return shape
}

// AppendArgs appends an A.
func AppendArgs(dst []byte, args []Arg) []byte {
	shape := uint64(1)
	for i := len(args) - 1; i >= 0; i-- {
		shape = shape<<2 | uint64(args[i].Wire&3)
	}
	dst = AppendUint(dst, shape)
	for i := range args {
		switch a := &args[i]; a.Wire {
		case WireSint:
			dst = AppendSint(dst, int64(a.Num))
		case WireUint:
			dst = AppendUint(dst, a.Num)
		case WireFloat:
			dst = AppendFixed(dst, a.Num)
		case WireText:
			dst = AppendText(dst, a.Text)
		}
	}
	return dst
}

// Args reads an A of at most [MaxArgs] arguments and appends them to dst. Their
// texts point into the cursor's bytes.
func (c *Cursor) Args(dst []Arg, what string) []Arg {
	at := c.at
	shape := c.Uint(what)
	if c.err == nil && shape == 0 {
		c.fail(at, what, ErrSyntax)
	}
	if shape>>(2*MaxArgs+1) != 0 {
		c.fail(at, what, ErrTooBig)
	}
	for ; shape > 1 && c.err == nil; shape >>= 2 {
		if shape < 4 { // the 1 on top is at an odd position
			c.fail(at, what, ErrSyntax)
			break
		}
		a := Arg{Wire: WireType(shape & 3)}
		switch a.Wire {
		case WireSint:
			a.Num = uint64(c.Sint(what))
		case WireUint:
			a.Num = c.Uint(what)
		case WireFloat:
			a.Num = c.Fixed(what)
		case WireText:
			a.Text = c.Text(what)
		}
		dst = append(dst, a)
	}
	return dst
}
