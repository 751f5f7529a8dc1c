package callframe

import "math/bits"

const (
	maxValues = 32  // of an expression at a time
	maxOps    = 256 // of an expression: compilers use some ten
)

// calculator evaluates an expression, for frames that are no register plus an offset: those of a
// signal's handler, of functions that align their stack, of tables of jumps.
type calculator struct {
	cursor
	registers *Registers
	stack     *Stack
	values    []uint64
	begin     int // of the expression
	bad       bool
	beyond    bool // what it needs is behind the copy of the stack
}

// evaluate evaluates the expression at an offset in the section, beginning with a value.
func (t *Table) evaluate(at int32, with []uint64, r *Registers, s *Stack) (v uint64, ok, beyond bool) {
	var room [maxValues]uint64
	c := calculator{cursor: cursor{data: t.section, at: int(at), end: len(t.section)}, registers: r, stack: s, values: append(room[:0], with...)}
	size := c.uleb()
	c.begin, c.end = c.at, c.at+int(min(size, uint64(c.left())))
	for n := 0; c.left() > 0 && !c.bad && !c.short; n++ {
		if n == maxOps {
			return 0, false, false
		}
		c.step()
	}
	v = c.pop()
	return v, !c.bad && !c.short, c.beyond
}

func (c *calculator) push(v uint64) {
	if len(c.values) == maxValues {
		c.bad = true
		return
	}
	c.values = append(c.values, v)
}

func (c *calculator) pop() uint64 {
	n := len(c.values) - 1
	if n < 0 {
		c.bad = true
		return 0
	}
	v := c.values[n]
	c.values = c.values[:n]
	return v
}

// peek is the value at a depth.
func (c *calculator) peek(depth int) uint64 {
	if depth >= len(c.values) {
		c.bad = true
		return 0
	}
	return c.values[len(c.values)-1-depth]
}

// register pushes a register plus an offset.
func (c *calculator) register(n uint64, offset int64) {
	v, ok := c.registers.get(n)
	c.bad = c.bad || !ok
	c.push(v + uint64(offset))
}

// Operations.
const (
	opAddress    = 0x03
	opDeref      = 0x06
	opConst1u    = 0x08
	opConst1s    = 0x09
	opConst2u    = 0x0a
	opConst2s    = 0x0b
	opConst4u    = 0x0c
	opConst4s    = 0x0d
	opConst8u    = 0x0e
	opConst8s    = 0x0f
	opConstU     = 0x10
	opConstS     = 0x11
	opDup        = 0x12
	opDrop       = 0x13
	opOver       = 0x14
	opPick       = 0x15
	opSwap       = 0x16
	opRotate     = 0x17
	opAbs        = 0x19
	opAnd        = 0x1a
	opDiv        = 0x1b
	opMinus      = 0x1c
	opMod        = 0x1d
	opMul        = 0x1e
	opNeg        = 0x1f
	opNot        = 0x20
	opOr         = 0x21
	opPlus       = 0x22
	opPlusConst  = 0x23
	opShl        = 0x24
	opShr        = 0x25
	opShra       = 0x26
	opXor        = 0x27
	opBranch     = 0x28
	opEq         = 0x29
	opGe         = 0x2a
	opGt         = 0x2b
	opLe         = 0x2c
	opLt         = 0x2d
	opNe         = 0x2e
	opSkip       = 0x2f
	opLiteral0   = 0x30
	opRegister0  = 0x50
	opBased0     = 0x70
	opBased      = 0x92
	opDerefSize  = 0x94
	opExprNop    = 0x96
	literals     = 32
	afterBased31 = 0x90
)

// step runs an operation.
func (c *calculator) step() {
	switch op := c.u8(); {
	case op >= opLiteral0 && op < opLiteral0+literals:
		c.push(uint64(op - opLiteral0))
	case op >= opBased0 && op < afterBased31:
		c.register(uint64(op-opBased0), c.sleb())
	case op == opBased:
		c.register(c.uleb(), c.sleb())
	case op == opDeref:
		c.deref(8)
	case op == opDerefSize:
		c.deref(int(c.u8()))
	case op == opAddress, op >= opConst1u && op <= opConstS:
		c.constant(op)
	case op >= opDup && op <= opRotate:
		c.shuffle(op)
	case op == opAbs, op == opNeg, op == opNot, op == opPlusConst:
		c.unary(op)
	case op == opBranch, op == opSkip:
		c.jump(op)
	case op >= opAnd && op <= opNe:
		b := c.pop()
		c.binary(op, c.pop(), b)
	case op == opExprNop:
	default:
		c.bad = true
	}
}

// deref replaces an address by what the stack has there. Other memory was not copied.
func (c *calculator) deref(size int) {
	if bits.OnesCount(uint(size)) != 1 || size > 8 {
		c.bad = true
		return
	}
	address := c.pop()
	v, ok := c.stack.read(address, size)
	if !ok {
		c.bad, c.beyond = true, c.stack.isBeyond(address)
	}
	c.push(v)
}

func (c *calculator) constant(op byte) {
	switch op {
	case opConst1u:
		c.push(uint64(c.u8()))
	case opConst1s:
		c.push(uint64(int8(c.u8())))
	case opConst2u:
		c.push(uint64(c.u16()))
	case opConst2s:
		c.push(uint64(int16(c.u16())))
	case opConst4u:
		c.push(uint64(c.u32()))
	case opConst4s:
		c.push(uint64(int32(c.u32())))
	case opConstU:
		c.push(c.uleb())
	case opConstS:
		c.push(uint64(c.sleb()))
	default:
		c.push(c.u64())
	}
}

func (c *calculator) shuffle(op byte) {
	switch op {
	case opDup:
		c.push(c.peek(0))
	case opDrop:
		c.pop()
	case opOver:
		c.push(c.peek(1))
	case opPick:
		c.push(c.peek(int(c.u8())))
	case opSwap:
		a, b := c.pop(), c.pop()
		c.push(a)
		c.push(b)
	case opRotate:
		x, y, z := c.pop(), c.pop(), c.pop()
		c.push(x)
		c.push(z)
		c.push(y)
	}
}

func (c *calculator) unary(op byte) {
	v := c.pop()
	switch {
	case op == opNot:
		v = ^v
	case op == opPlusConst:
		v += c.uleb()
	case op == opNeg, int64(v) < 0:
		v = -v
	}
	c.push(v)
}

// jump goes on elsewhere; maxOps ends what goes round.
func (c *calculator) jump(op byte) {
	by := int(int16(c.u16()))
	if op == opBranch && c.pop() == 0 {
		return
	}
	if c.at += by; c.at < c.begin || c.at > c.end {
		c.bad = true
	}
}

func (c *calculator) binary(op byte, a, b uint64) {
	truth := func(is bool) uint64 {
		if is {
			return 1
		}
		return 0
	}
	switch op {
	case opAnd:
		a &= b
	case opOr:
		a |= b
	case opXor:
		a ^= b
	case opPlus:
		a += b
	case opMinus:
		a -= b
	case opMul:
		a *= b
	case opShl:
		a <<= b
	case opShr:
		a >>= b
	case opShra:
		a = uint64(int64(a) >> min(b, 63))
	case opEq:
		a = truth(a == b)
	case opNe:
		a = truth(a != b)
	case opGe:
		a = truth(int64(a) >= int64(b))
	case opGt:
		a = truth(int64(a) > int64(b))
	case opLe:
		a = truth(int64(a) <= int64(b))
	case opLt:
		a = truth(int64(a) < int64(b))
	default: // nobody divides
		c.bad = true
	}
	c.push(a)
}
