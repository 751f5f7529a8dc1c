package callframe

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"
)

// section is a .eh_frame, made by hand.
type section []byte

// leb are numbers below 64, each of which takes a byte.
func leb(ns ...int) (b []byte) {
	for _, n := range ns {
		b = append(b, byte(n)&0x7f)
	}
	return b
}

// add adds a record.
func (s section) add(id uint32, body []byte) section {
	for len(body)%4 != 0 {
		body = append(body, opNop)
	}
	s = binary.LittleEndian.AppendUint32(s, uint32(len(body)+4))
	s = binary.LittleEndian.AppendUint32(s, id)
	return append(s, body...)
}

// common adds what functions have in common, which must come first.
func (s section) common(letters string, returns int, program ...byte) section {
	body := append(append([]byte{1}, letters...), 0)
	body = append(body, leb(1, -8, returns, 1)...)
	return s.add(0, append(append(body, formU64), program...))
}

// function adds a function of the common record at an offset.
func (s section) function(common int, begin, size uint64, program ...byte) section {
	body := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, begin), size)
	return s.add(uint32(len(s)+4-common), append(append(body, 0), program...))
}

// table is the table of a section whose program is mapped where it is said to be.
func (s section) table(m *machine) *Table {
	t := &Table{machine: m, section: s, loads: []elf.ProgHeader{{Filesz: 1 << 20}}}
	t.index()
	return t
}

// registers are some of a processor.
func (m *machine) registers(values map[int]uint64) (r Registers) {
	r.machine = m
	for n, v := range values {
		r.set(n, v)
	}
	return r
}

// copied is a stack at stackBase.
func copied(words ...uint64) (s Stack) {
	s.Base = stackBase
	for _, w := range words {
		s.Bytes = binary.LittleEndian.AppendUint64(s.Bytes, w)
	}
	return s
}

const stackBase = 0x7ffd_0000_0000

// at is the address of a word of the stack.
func at(word int) uint64 { return stackBase + 8*uint64(word) }

// code says that all is code: of the table below 0x1000, then of no file that is given up to 0x2000,
// then what a program made up to 0x3000.
func code(t *Table) func(uint64) Place {
	return func(address uint64) Place {
		switch {
		case address < 0x1000:
			return Place{Known: true, Code: true, Table: t, Address: address}
		case address < 0x2000:
			return Place{Code: true}
		case address < 0x3000:
			return Place{Known: true, Code: true}
		}
		return Place{}
	}
}

// plain are functions of amd64: one whose frame has 16 bytes at 0x100, the outermost one at 0x200, one
// that a signal interrupts the caller of at 0x300, one whose frame an expression tells at 0x400, and
// one that saves its frame pointer at 0x500.
func plain() section {
	s := section{}.common("zR", 16, opFrame, 7, 8, 2<<6|16, 1)
	s = s.function(0, 0x100, 0x100, 1<<6|8, opFrameOffset, 24)
	s = s.function(0, 0x200, 0x100, opUndefined, 16)
	signal := len(s)
	s = s.common("zRS", 16, opFrame, 7, 8, 2<<6|16, 1)
	s = s.function(signal, 0x300, 0x100)
	s = s.function(0, 0x400, 0x100, opFrameExpression, 3, opBased0+6, 8, opDeref)
	return s.function(0, 0x500, 0x100, opFrameOffset, 16, 2<<6|6, 2)
}

func exact(pc uint64) Frame { return Frame{pc, true} }

func frames(pcs ...uint64) (all []Frame) {
	for i, pc := range pcs {
		all = append(all, Frame{pc, i == 0})
	}
	return all
}

func TestWalk(t *testing.T) {
	table := plain().table(amd64)
	for name, c := range map[string]struct {
		regs    map[int]uint64
		stack   Stack
		callers []uint64
		want    []Frame
		end     End
	}{
		"to the outermost":     {map[int]uint64{16: 0x110, 7: at(0)}, copied(1, 2, 0x210), nil, frames(0x110, 0x210), Complete},
		"before the frame":     {map[int]uint64{16: 0x104, 7: at(0)}, copied(0x110, 1, 2, 0x210), nil, frames(0x104, 0x110, 0x210), Complete},
		"a call that ends":     {map[int]uint64{16: 0x110, 7: at(0)}, copied(1, 2, 0x200, 3, 4, 0x210), nil, frames(0x110, 0x200, 0x210), Complete}, // it is of the function before
		"the copy ends":        {map[int]uint64{16: 0x110, 7: at(0)}, copied(1, 2), nil, frames(0x110), CopyEnds},
		"nobody gave the file": {map[int]uint64{16: 0x110, 7: at(0)}, copied(1, 2, 0x1800), nil, frames(0x110, 0x1800), NoFile},
		"no code":              {map[int]uint64{16: 0x110, 7: at(0)}, copied(1, 2, 0x9000), nil, frames(0x110), NoCode},
		"no caller":            {map[int]uint64{16: 0x110, 7: at(0)}, copied(1, 2, 0), nil, frames(0x110), Complete},
		"by an expression":     {map[int]uint64{16: 0x410, 7: at(0), 6: at(1)}, copied(0, 0, at(5), 0, 0x210), nil, frames(0x410, 0x210), Complete},
		"by the frame pointer": {map[int]uint64{16: 0x2100, 7: at(0), 6: at(1)}, copied(0, at(4), 0x2200, 0, 0, 0x210), nil, frames(0x2100, 0x2200, 0x210), Complete},
		"an odd frame pointer": {map[int]uint64{16: 0x2100, 7: at(2), 6: at(1)}, copied(0, at(4), 0x2200), nil, frames(0x2100), NoRule},
		"frame pointer of 0":   {map[int]uint64{16: 0x2100, 7: at(0), 6: 0}, copied(0, 0), nil, frames(0x2100), Complete},
		"a circle":             {map[int]uint64{16: 0x2100, 7: at(0), 6: at(0)}, copied(at(0), 0x2100), nil, frames(0x2100, 0x2100), NoRule},
		"joined":               {map[int]uint64{16: 0x2100, 7: at(0), 6: 0xc000_0000}, copied(0), []uint64{0x2200, 0x210}, frames(0x2100, 0x2200, 0x210), Joined},
		"joined further up":    {map[int]uint64{16: 0x510, 7: at(0), 6: at(2)}, copied(at(2), 0x2100, 0xc000_0000, 0x2300), []uint64{0x2300, 0x2200}, frames(0x510, 0x2100, 0x2300, 0x2200), Joined},
		"of another frame":     {map[int]uint64{16: 0x510, 7: at(0), 6: at(2)}, copied(0xc000_0000, 0x2100, 0, 0), []uint64{0x2200}, frames(0x510, 0x2100), NoRule},
	} {
		w := Walker{Find: code(table)}
		got, end := w.Walk(amd64.registers(c.regs), c.stack, c.callers)
		if !slices.Equal(got, c.want) || end != c.end {
			t.Errorf("%s: %+v, %d, want %+v, %d", name, got, end, c.want, c.end)
		}
		again, end := w.Walk(amd64.registers(c.regs), c.stack, c.callers)
		if !slices.Equal(again, c.want) || end != c.end {
			t.Errorf("%s, again: %+v, %d", name, again, end)
		}
	}
}

// The caller of a signal's handler was interrupted: its address is exact.
func TestSignal(t *testing.T) {
	w := Walker{Find: code(plain().table(amd64))}
	got, end := w.Walk(amd64.registers(map[int]uint64{16: 0x310, 7: at(0)}), copied(0x100, 0x210), nil)
	if want := []Frame{exact(0x310), exact(0x100), {0x210, false}}; !slices.Equal(got, want) || end != Complete {
		t.Errorf("%+v, %d, want %+v", got, end, want)
	}
}

// On arm64 a call leaves the return address in a register, signed or not, and a function that calls
// others saves it.
func TestLinkRegister(t *testing.T) {
	const signed = 0x7f << 56
	s := section{}.common("zR", 30, opFrame, 31, 0)
	s = s.function(0, 0x100, 0x100) // calls nothing
	s = s.function(0, 0x200, 0x100, opFrameOffset, 16, opSignsReturn, 2<<6|30, 1, 2<<6|29, 2)
	s = s.function(0, 0x300, 0x100, opUndefined, 30)
	w := Walker{Find: code(s.table(arm64))}
	got, end := w.Walk(arm64.registers(map[int]uint64{32: 0x110, 31: at(0), 30: 0x210}), copied(at(9), signed|0x310), nil)
	if want := frames(0x110, 0x210, 0x310); !slices.Equal(got, want) || end != Complete {
		t.Errorf("%+v, %d, want %+v", got, end, want)
	}
	got, end = w.Walk(arm64.registers(map[int]uint64{32: 0x210, 31: at(0), 30: 0}), copied(at(9), 0x110, 0, 0), nil)
	if want := frames(0x210, 0x110); !slices.Equal(got, want) || end != NoRule {
		t.Errorf("a function that calls nothing has called: %+v, %d, want %+v", got, end, want)
	}
}

func TestFromPerf(t *testing.T) {
	words := func(n int) (b []byte) {
		for i := range n {
			b = binary.LittleEndian.AppendUint64(b, uint64(100+i))
		}
		return b
	}
	if r, ok := FromPerf(0xff0fff, words(20)); !ok || r.PC() != 108 || r.SP() != 107 || r.value[6] != 106 || r.value[1] != 103 || r.value[15] != 119 {
		t.Errorf("amd64: %v %+v", ok, r)
	}
	if r, ok := FromPerf(WantARM64, words(33)); !ok || r.PC() != 132 || r.SP() != 131 || r.value[29] != 129 {
		t.Errorf("arm64: %v %+v", ok, r)
	}
	for _, c := range []struct {
		asked uint64
		n     int
	}{{0, 0}, {0xff0fff, 19}, {1 << 7, 1}, {1 << 32, 1}} {
		if r, ok := FromPerf(c.asked, words(c.n)); ok {
			t.Errorf("%#x of %d words: %+v", c.asked, c.n, r)
		}
	}
	var none Registers
	if frames, end := new(Walker).Walk(none, Stack{}, nil); len(frames) > 0 || end != NoRule || none.PC() != 0 || none.SP() != 0 {
		t.Errorf("%v %d", frames, end)
	}
}

// The work for a stack has a bound, however long the programs of its functions are.
func TestBudget(t *testing.T) {
	long := slices.Repeat([]byte{opFrameOffset, 16}, maxBudget/64)
	s := section{}.common("zR", 16, opFrame, 7, 8, 2<<6|16, 1).function(0, 0, 0x1000, long...)
	var words []uint64
	for i := range 200 {
		words = append(words, 0, uint64(i+1))
	}
	w := Walker{Find: code(s.table(amd64))}
	got, end := w.Walk(amd64.registers(map[int]uint64{16: 0x500, 7: at(0)}), copied(words...), nil)
	if end != TooLong || len(got) > 70 {
		t.Errorf("%d frames, %d", len(got), end)
	}
}

func FuzzWalk(f *testing.F) {
	for _, arm := range []bool{false, true} {
		f.Add([]byte(plain()), arm, uint64(0x110), []byte(copied(1, 2, 0x210).Bytes))
		f.Add([]byte(plain()), arm, uint64(0x410), []byte(copied(at(3), 2, 0x210, 5, 6).Bytes))
		f.Add([]byte(plain()), arm, uint64(0x2410), []byte(copied(at(3), 2, 0x210, 5, 6).Bytes))
	}
	f.Fuzz(func(t *testing.T, b []byte, arm bool, pc uint64, stack []byte) {
		m := amd64
		if arm {
			m = arm64
		}
		regs := map[int]uint64{m.pc: pc % 0x3000, m.sp: stackBase, m.fp: stackBase + uint64(len(b)%64)*8}
		for n := range 6 {
			regs[n+8] = stackBase + uint64(n)
		}
		w := Walker{Find: code(section(b).table(m))}
		got, end := w.Walk(m.registers(regs), Stack{stackBase, stack}, []uint64{0x2100})
		if len(got) > 2+len(stack)/8+1 || end == Complete && len(got) == 0 { // each caller is further up
			t.Errorf("%d frames of %d bytes, %d", len(got), len(stack), end)
		}
	})
}
