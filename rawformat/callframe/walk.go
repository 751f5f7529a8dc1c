package callframe

// Frame is a place in a stack.
type Frame struct {
	PC    uint64
	Exact bool // it is where the thread was; false: it is a return address, behind the call
}

// End is why a stack has no more frames.
type End uint8

const (
	Complete End = iota // the thread began there
	Joined              // the callers that somebody else found follow
	CopyEnds            // the stack goes on where it was not copied
	NoFile              // the next frame's program was not given
	NoCode              // what would be the next frame is no code
	NoRule              // neither a table nor the frame pointer tells the caller
	TooLong             // more work than any real stack
)

// Place is where an address is.
type Place struct {
	Known   bool   // it is in code that is known; false: nobody can go on from there
	Code    bool   // something is mapped there
	Table   *Table // nil: the code has none
	Address uint64 // in the program, before relocation
}

// Bounds of a walk.
const (
	maxFrames = 8 << 10 // as many as fit into the largest copy
	maxBudget = 1 << 17 // instructions of tables, some ten a frame
	maxRows   = 1 << 13 // that are kept
)

// Walker follows calls. It is not for concurrent use.
type Walker struct {
	// Find tells where an address is.
	Find func(address uint64) Place

	rows   map[rowKey]*row
	frames []Frame
	budget int

	regs  Registers
	stack Stack
	chain chain
}

// rowKey is an address of a program.
type rowKey struct {
	table   *Table
	address uint64
}

// chain is the callers that the kernel found by frame pointers, in memory that may not have been
// copied. Each link is known from the one before, as far as the copy reaches.
type chain struct {
	callers []uint64 // of the interrupted function, its caller first
	link    uint64   // frame pointer that leads to callers[0]
}

// Walk returns the frames of a thread with these registers, the innermost first, and why there are no
// more. callers are the callers that somebody else found by frame pointers, the innermost first, if
// any: they complete what can't be followed in the copy. The frames are valid until the next call.
func (w *Walker) Walk(r Registers, s Stack, callers []uint64) ([]Frame, End) {
	w.frames = w.frames[:0]
	if r.machine == nil {
		return nil, NoRule
	}
	if w.rows == nil {
		w.rows = map[rowKey]*row{}
	}
	w.regs, w.stack, w.budget = r, s, maxBudget
	w.chain = chain{callers: callers}
	if w.chain.link = r.value[r.machine.fp]; !r.has(r.machine.fp) {
		w.chain.callers = nil
	}
	frame := Frame{PC: r.PC(), Exact: true}
	for {
		if len(w.frames) == maxFrames {
			return w.frames, TooLong
		}
		lookup := frame.PC
		if !frame.Exact {
			lookup--
		}
		p := w.Find(lookup)
		if len(w.frames) > 0 && !p.Code {
			return w.frames, NoCode
		}
		w.frames = append(w.frames, frame)
		next, end, more := w.step(p, frame.Exact)
		if !more {
			return w.join(end)
		}
		w.relink()
		frame = next
	}
}

// join ends a walk: by the callers of the chain, if it is still known where the frame is in it.
func (w *Walker) join(end End) ([]Frame, End) {
	m, c := w.regs.machine, &w.chain
	if end == Complete || len(c.callers) == 0 || !w.regs.has(m.fp) || w.regs.value[m.fp] != c.link {
		return w.frames, end
	}
	for _, caller := range c.callers {
		if caller == 0 || len(w.frames) == maxFrames {
			break
		}
		w.frames = append(w.frames, Frame{PC: caller})
	}
	return w.frames, Joined
}

// relink moves up the chain when the walk has left the frame of its link.
func (w *Walker) relink() {
	m, c := w.regs.machine, &w.chain
	if len(c.callers) == 0 || !w.regs.has(m.fp) || w.regs.value[m.fp] == c.link {
		return
	}
	next, ok := w.stack.word(c.link)
	if !ok || next != w.regs.value[m.fp] {
		return
	}
	c.link, c.callers = next, c.callers[1:]
}

// step turns the registers into those of the caller. There is no more when none is found.
func (w *Walker) step(p Place, exact bool) (next Frame, end End, more bool) {
	if !p.Known {
		return next, NoFile, false
	}
	if p.Table != nil && p.Table.machine == w.regs.machine {
		if r := w.row(p); r != nil {
			return w.byRow(p.Table, r, exact)
		}
		if back, ok := w.back(p); ok && !exact {
			return back, Complete, true
		}
	}
	if w.budget < 0 {
		return next, TooLong, false
	}
	return w.byPointer()
}

// row is the row of a place, nil if there is none.
func (w *Walker) row(p Place) *row {
	k := rowKey{p.Table, p.Address}
	r, known := w.rows[k]
	if known {
		return r
	}
	if found, ok := p.Table.rowAt(p.Address, &w.budget); ok {
		r = &found
	}
	if w.budget < 0 {
		return nil
	}
	if len(w.rows) == maxRows {
		clear(w.rows)
	}
	w.rows[k] = r
	return r
}

// byRow goes to the caller as a row says.
func (w *Walker) byRow(t *Table, r *row, exact bool) (next Frame, end End, more bool) {
	m := w.regs.machine
	frame, ok, beyond := w.frameOf(t, r)
	if !ok {
		return next, endOf(beyond), false
	}
	switch how := r.rules[r.returns].how; {
	case how == undefined:
		return next, Complete, false
	case how == same && !(exact && m.link): // a call has overwritten it
		return next, NoRule, false
	}
	old := w.regs
	for n := range numRegisters {
		rule := r.rules[n]
		if rule.how == same {
			continue
		}
		v, ok, beyond := w.valueOf(t, rule, frame, &old)
		if ok {
			w.regs.set(n, v)
			continue
		}
		if w.regs.known &^= 1 << n; n == int(r.returns) {
			w.regs = old // of the frame that can't be left
			return next, endOf(beyond), false
		}
	}
	if r.rules[m.sp].how == same {
		w.regs.set(m.sp, frame)
	}
	pc, ok := w.regs.get(uint64(r.returns))
	if sp := w.regs.value[m.sp]; !ok || sp < old.value[m.sp] || sp == old.value[m.sp] && !(exact && m.link) {
		w.regs = old
		return next, NoRule, false
	}
	if pc &= m.address; pc == 0 {
		return next, Complete, false
	}
	w.regs.set(m.pc, pc)
	return Frame{PC: pc, Exact: r.signal}, Complete, true
}

// endOf is why a value could not be read.
func endOf(beyond bool) End {
	if beyond {
		return CopyEnds
	}
	return NoRule
}

// frameOf is the address of a row's frame.
func (w *Walker) frameOf(t *Table, r *row) (address uint64, ok, beyond bool) {
	switch r.frame.how {
	case fromRegister:
		v, ok := w.regs.get(uint64(r.frame.from))
		return v + uint64(int64(r.frame.value)), ok, false
	case isExpression:
		return t.evaluate(r.frame.value, nil, &w.regs, &w.stack)
	}
	return 0, false, false
}

// valueOf is the value of a register in the caller.
func (w *Walker) valueOf(t *Table, r rule, frame uint64, old *Registers) (v uint64, ok, beyond bool) {
	switch r.how {
	case atOffset:
		at := frame + uint64(int64(r.value))
		v, ok = w.stack.word(at)
		return v, ok, w.stack.isBeyond(at)
	case isOffset:
		return frame + uint64(int64(r.value)), true, false
	case inRegister:
		v, ok = old.get(uint64(r.from))
		return v, ok, false
	case atExpression:
		at, ok, beyond := t.evaluate(r.value, []uint64{frame}, old, &w.stack)
		if !ok {
			return 0, false, beyond
		}
		v, ok = w.stack.word(at)
		return v, ok, w.stack.isBeyond(at)
	case isExpression:
		return t.evaluate(r.value, []uint64{frame}, old, &w.stack)
	}
	return 0, false, false
}

// byPointer goes to the caller by the frame pointer, of code that has no table.
func (w *Walker) byPointer() (next Frame, end End, more bool) {
	m := w.regs.machine
	fp, ok := w.regs.get(uint64(m.fp))
	if ok && fp == 0 {
		return next, Complete, false
	}
	if !ok || fp < w.regs.value[m.sp] {
		return next, NoRule, false
	}
	before, ok1 := w.stack.word(fp)
	pc, ok2 := w.stack.word(fp + 8)
	if !ok1 || !ok2 {
		return next, endOf(w.stack.isBeyond(fp)), false
	}
	if pc &= m.address; pc == 0 {
		return next, Complete, false
	}
	w.regs.known = 0 // others are where nobody knows
	w.regs.set(m.fp, before)
	w.regs.set(m.sp, fp+16)
	w.regs.set(m.pc, pc)
	return Frame{PC: pc}, Complete, true
}
