package callframe

// row is where the caller's registers are, for one instruction.
type row struct {
	frame   rule // the address of the frame: the caller's stack pointer
	rules   [numRegisters]rule
	returns uint8 // register that is the return address
	signal  bool  // the caller was interrupted, and did not call
}

// rule is how a value is found.
type rule struct {
	how   how
	from  uint8 // a register
	value int32 // to add; of expressions, where they are in the section
}

type how uint8

const (
	same         how = iota // the caller's value is still there
	undefined               // it is lost
	atOffset                // it is saved at the frame's address plus value
	isOffset                // it is the frame's address plus value
	inRegister              // it is in another register
	atExpression            // it is saved where an expression says
	isExpression            // it is what an expression says
	fromRegister            // of the frame: a register plus value
)

// maxSaved bounds the rows that a program puts aside; compilers nest two or three.
const maxSaved = 16

// reader runs the programs of a function until the row of an address is complete.
type reader struct {
	row
	table  *Table
	common *common
	at     uint64 // address that the row is for
	until  uint64
	first  row // after the common program
	saved  []row
	budget *int // instructions that may still be run
	bad    bool
}

// rowAt returns the row of an address before relocation.
func (t *Table) rowAt(address uint64, budget *int) (r row, ok bool) {
	f, p, ok := t.find(address)
	if !ok {
		return r, false
	}
	in := reader{table: t, common: &p.common, at: f.begin, until: address, budget: budget}
	in.returns, in.signal = uint8(p.returns), p.signal
	in.run(p.program)
	in.first = in.row
	in.run(p.own)
	return in.row, !in.bad
}

// run runs a program as far as it concerns the address.
func (r *reader) run(c cursor) {
	for c.left() > 0 && !r.bad && r.at <= r.until {
		if *r.budget--; *r.budget < 0 {
			r.bad = true
			return
		}
		op := c.u8()
		low := uint64(op & 0x3f)
		switch op >> 6 {
		case 1:
			r.advance(low)
		case 2:
			r.set(low, atOffset, r.scaled(c.uleb()))
		case 3:
			r.restore(low)
		default:
			r.other(op, &c)
		}
		r.bad = r.bad || c.short
	}
}

func (r *reader) advance(n uint64) {
	at := r.at + n*r.common.codeUnit
	r.bad = r.bad || at < r.at
	r.at = at
}

func (r *reader) scaled(n uint64) int64 { return int64(n) * r.common.dataUnit }

// set makes the rule of a register; those that are not followed have none.
func (r *reader) set(register uint64, how how, value int64) {
	if register < numRegisters {
		r.rules[register] = rule{how: how, value: r.small(value)}
	}
}

// small is an offset as rules have it: frames are far smaller.
func (r *reader) small(value int64) int32 {
	if value != int64(int32(value)) {
		r.bad = true
	}
	return int32(value)
}

func (r *reader) restore(register uint64) {
	if register < numRegisters {
		r.rules[register] = r.first.rules[register]
	}
}

func (r *reader) setFrame(register uint64, value int64) {
	if register >= numRegisters {
		r.bad = true
		return
	}
	r.frame = rule{how: fromRegister, from: uint8(register), value: r.small(value)}
}

// expression skips one, and returns where it is.
func (r *reader) expression(c *cursor) int64 {
	at := c.at
	c.take(c.uleb())
	return int64(at)
}

// Instructions with operands of their own.
const (
	opNop              = 0x00
	opSetAddress       = 0x01
	opAdvance1         = 0x02
	opAdvance2         = 0x03
	opAdvance4         = 0x04
	opAtOffset         = 0x05
	opRestore          = 0x06
	opUndefined        = 0x07
	opSame             = 0x08
	opInRegister       = 0x09
	opSave             = 0x0a
	opTakeSaved        = 0x0b
	opFrame            = 0x0c
	opFrameRegister    = 0x0d
	opFrameOffset      = 0x0e
	opFrameExpression  = 0x0f
	opAtExpression     = 0x10
	opAtSigned         = 0x11
	opFrameSigned      = 0x12
	opFrameOffSigned   = 0x13
	opIsOffset         = 0x14
	opIsSigned         = 0x15
	opIsExpression     = 0x16
	opSignsReturn      = 0x2d // GNU's: on arm64 the return address is signed from here on, or no longer
	opArguments        = 0x2e // GNU's: for who throws
	opAtNegativeOffset = 0x2f // GNU's, of old
)

// other runs an instruction that is told by all bits.
func (r *reader) other(op byte, c *cursor) {
	switch op {
	case opNop, opSignsReturn:
	case opSetAddress:
		at := c.address(r.common.encoding, r.table.address)
		r.bad = r.bad || at < r.at
		r.at = at
	case opAdvance1:
		r.advance(uint64(c.u8()))
	case opAdvance2:
		r.advance(uint64(c.u16()))
	case opAdvance4:
		r.advance(uint64(c.u32()))
	case opRestore:
		r.restore(c.uleb())
	case opSave:
		if r.bad = len(r.saved) == maxSaved; !r.bad {
			r.saved = append(r.saved, r.row)
		}
	case opTakeSaved:
		n := len(r.saved) - 1
		if r.bad = n < 0; !r.bad {
			r.row, r.saved = r.saved[n], r.saved[:n]
		}
	case opArguments:
		c.uleb()
	default:
		if op <= opFrameExpression && op >= opFrame || op == opFrameSigned || op == opFrameOffSigned {
			r.frameOp(op, c)
		} else {
			r.registerOp(op, c)
		}
	}
}

// frameOp says where the frame is.
func (r *reader) frameOp(op byte, c *cursor) {
	switch op {
	case opFrame:
		r.setFrame(c.uleb(), int64(c.uleb()))
	case opFrameSigned:
		r.setFrame(c.uleb(), c.sleb()*r.common.dataUnit)
	case opFrameExpression:
		r.frame = rule{how: isExpression, value: int32(r.expression(c))}
	default: // one half of what was said before
		r.bad = r.bad || r.frame.how != fromRegister
		switch op {
		case opFrameRegister:
			r.setFrame(c.uleb(), int64(r.frame.value))
		case opFrameOffset:
			r.setFrame(uint64(r.frame.from), int64(c.uleb()))
		case opFrameOffSigned:
			r.setFrame(uint64(r.frame.from), c.sleb()*r.common.dataUnit)
		}
	}
}

// registerOp says where a register is.
func (r *reader) registerOp(op byte, c *cursor) {
	register := c.uleb()
	switch op {
	case opUndefined:
		r.set(register, undefined, 0)
	case opSame:
		r.set(register, same, 0)
	case opInRegister:
		from := c.uleb()
		r.bad = r.bad || from >= numRegisters
		if register < numRegisters && !r.bad {
			r.rules[register] = rule{how: inRegister, from: uint8(from)}
		}
	case opAtOffset:
		r.set(register, atOffset, r.scaled(c.uleb()))
	case opAtSigned:
		r.set(register, atOffset, c.sleb()*r.common.dataUnit)
	case opAtNegativeOffset:
		r.set(register, atOffset, -r.scaled(c.uleb()))
	case opIsOffset:
		r.set(register, isOffset, r.scaled(c.uleb()))
	case opIsSigned:
		r.set(register, isOffset, c.sleb()*r.common.dataUnit)
	case opAtExpression:
		r.set(register, atExpression, r.expression(c))
	case opIsExpression:
		r.set(register, isExpression, r.expression(c))
	default:
		r.bad = true
	}
}
