package callframe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"slices"
)

// golang is what has to be known of a Go program's frames where the frame pointer leads away from them: C
// that was called from Go has called Go again. That runs on the same goroutine's stack, above the frames
// that called C, while the frame pointer leads to C's stack, which was not copied.
//
// runtime.cgocallback makes its frame on the goroutine's stack as if it had been called from where the
// goroutine had left that: runtime.asmcgocall, called by runtime.cgocall. The place is told as if it were in
// runtime.systemstack_switch, whose frame is like asmcgocall's.
type golang struct {
	callback, switched, call goFunction
}

// goFunction is a function of Go's table.
type goFunction struct {
	begin, end uint64
	frame      uint64 // its size, without the return address
}

func (f *goFunction) has(address uint64) bool { return address >= f.begin && address < f.end }

// take notes a function, the first of its name.
func (f *goFunction) take(t *goTable, begin, end uint64, fixed []byte) {
	if f.end == 0 {
		*f = goFunction{begin, end, t.frame(fixed)}
	}
}

const (
	goMagic    = 0xfffffff1 // of tables since Go 1.20
	goHead     = 72
	maxGo      = 256 << 20 // bytes of the table
	moduleText = 22        // word of runtime.moduledata
	goQuantum  = 1         // of amd64
)

// readGolang reads those functions of a program, nil if it has none.
func readGolang(f *elf.File) *golang {
	if !linksC(f) {
		return nil
	}
	var b []byte
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := f.Section(name); s != nil && s.Type != elf.SHT_NOBITS && s.Size <= maxGo {
			b, _ = io.ReadAll(io.NewSectionReader(s, 0, int64(s.Size)))
			break
		}
	}
	if len(b) < goHead || binary.LittleEndian.Uint32(b) != goMagic || b[6] != goQuantum || b[7] != 8 || !bytes.Contains(b, []byte("\x00runtime.cgocallback\x00")) {
		return nil
	}
	return (&goTable{all: b, text: goText(f, b)}).golang()
}

// linksC reports whether a program may have C in it: the table of one that has none need not be read.
func linksC(f *elf.File) bool {
	return f.Section(".eh_frame") != nil || slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// golang finds the functions, nil if not all are there.
func (t *goTable) golang() *golang {
	g := &golang{}
	for i := range t.count() {
		entry, end, fixed, ok := t.function(i)
		if !ok {
			break
		}
		switch name := nameAt(t.part(4), binary.LittleEndian.Uint32(fixed[4:])); string(name) {
		case "runtime.cgocallback":
			g.callback.take(t, entry, end, fixed)
		case "runtime.systemstack_switch":
			g.switched.take(t, entry, end, fixed)
		case "runtime.cgocall":
			g.call.take(t, entry, end, fixed)
		}
	}
	if t.text == 0 || g.callback.frame < 8 || g.switched.frame != 8 || g.call.end == 0 {
		return nil
	}
	return g
}

// goTable is Go's table of functions, see runtime/symtab.go.
type goTable struct {
	all  []byte
	text uint64 // address of the first function
}

// part is the part of the table that a word of its head tells.
func (t *goTable) part(word int) []byte {
	at := binary.LittleEndian.Uint64(t.all[8*word:])
	return t.all[min(at, uint64(len(t.all))):]
}

// count is how many functions there are.
func (t *goTable) count() int {
	n := binary.LittleEndian.Uint64(t.all[8:])
	return int(min(n, uint64(len(t.part(8)))/8))
}

// function is where a function is, and what is fixed of its record.
func (t *goTable) function(i int) (begin, end uint64, fixed []byte, ok bool) {
	funcs := t.part(8)
	if len(funcs) < 8*i+12 {
		return 0, 0, nil, false
	}
	entry := funcs[8*i:]
	begin, end = t.text+uint64(binary.LittleEndian.Uint32(entry)), t.text+uint64(binary.LittleEndian.Uint32(entry[8:]))
	at := uint64(binary.LittleEndian.Uint32(entry[4:]))
	if at > uint64(len(funcs)) || len(funcs[at:]) < 20 {
		return 0, 0, nil, false
	}
	return begin, end, funcs[at:], true
}

// nameAt is the name at an offset, up to its NUL.
func nameAt(b []byte, at uint32) []byte {
	const most = 64 // longer than the names that are looked for
	b = b[min(uint64(at), uint64(len(b))):]
	name, _, _ := bytes.Cut(b[:min(len(b), most)], []byte{0})
	return name
}

// frame is the size of a function's frame: the largest in its table of sizes by pc, which are differences in
// pairs with those of the pc.
func (t *goTable) frame(fixed []byte) (size uint64) {
	pcs := t.part(7)
	at := uint64(binary.LittleEndian.Uint32(fixed[16:]))
	if at == 0 || at >= uint64(len(pcs)) {
		return 0
	}
	b, value := pcs[at:], int32(-1)
	const most = 1 << 10 // changes; the functions have some five
	for i := range most {
		v, n := binary.Uvarint(b)
		if n <= 0 || v == 0 && i > 0 {
			break
		}
		_, m := binary.Uvarint(b[n:])
		if m <= 0 {
			break
		}
		b = b[n+m:]
		value += int32(-(uint32(v) & 1) ^ uint32(v)>>1)
		size = max(size, uint64(max(value, 0)))
	}
	return size
}

// goText is the address of the first function, 0 unknown: by the table, by the runtime's data of the program,
// or by a symbol.
func goText(f *elf.File, table []byte) uint64 {
	if text := binary.LittleEndian.Uint64(table[24:]); text != 0 {
		return text
	}
	if s := f.Section(".go.module"); s != nil && s.Type != elf.SHT_NOBITS {
		if text := relocated(f, s, 8*moduleText); text != 0 {
			return text
		}
	}
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		if s.Name == "runtime.text" {
			return s.Value
		}
	}
	return 0
}

// relocated is a word of a section in a program that is loaded at 0.
func relocated(f *elf.File, s *elf.Section, offset uint64) uint64 {
	var word [8]byte
	if _, err := s.ReadAt(word[:], int64(offset)); err != nil {
		return 0
	}
	if r := f.Section(".rela.dyn"); r != nil && r.Type != elf.SHT_NOBITS && r.Size <= maxSection {
		b, _ := io.ReadAll(io.NewSectionReader(r, 0, int64(r.Size)))
		for ; len(b) >= 24; b = b[24:] {
			if binary.LittleEndian.Uint64(b) == s.Addr+offset && binary.LittleEndian.Uint32(b[8:]) == uint32(elf.R_X86_64_RELATIVE) {
				return binary.LittleEndian.Uint64(b[16:])
			}
		}
	}
	return binary.LittleEndian.Uint64(word[:])
}

// back goes from Go that C has called to the Go that has called C: from runtime.cgocallback to runtime.cgocall.
// It is not ok anywhere else, and where C's thread is not Go's.
func (w *Walker) back(p Place) (next Frame, ok bool) {
	g := p.Table.golang
	if g == nil || !g.callback.has(p.Address) {
		return next, false
	}
	m := w.regs.machine
	left := w.regs.value[m.sp] + g.callback.frame // where it seems to have been called from
	pc, ok := w.stack.word(left)
	if from := w.Find(pc); !ok || from.Table != p.Table || !g.switched.has(from.Address) {
		return next, false
	}
	fp := left + g.switched.frame // the last word of the frame is the frame pointer of runtime.cgocall
	before, ok1 := w.stack.word(fp)
	pc, ok2 := w.stack.word(fp + 8)
	if caller := w.Find(pc - 1); !ok1 || !ok2 || caller.Table != p.Table || !g.call.has(caller.Address) {
		return next, false
	}
	w.regs.known = 0
	w.regs.set(m.pc, pc)
	w.regs.set(m.sp, fp+16)
	w.regs.set(m.fp, before)
	return Frame{PC: pc}, true
}
