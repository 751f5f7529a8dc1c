package callframe

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sort"
)

// Errors of a program.
var (
	ErrNone    = errors.New("no .eh_frame")
	ErrMachine = errors.New("call frames are followed for amd64 and arm64 only")
)

// maxSection bounds the section in memory: those of browsers have some 20 MB.
const maxSection = 64 << 20

// Table is the call frame information of a program. It is read-only, for concurrent use.
type Table struct {
	machine *machine
	loads   []elf.ProgHeader
	section []byte
	address uint64     // of the section
	ranges  []function // by address
	golang  *golang    // nil: it is no program of Go that calls C
}

// function is the range of a function's instructions, and where what is said of them begins.
type function struct {
	begin uint64
	size  uint32
	at    uint32 // of the record in the section
}

// Read reads the table of a program. The error is ErrNone, ErrMachine, or that of reading.
func Read(f *elf.File) (*Table, error) {
	t := &Table{}
	switch {
	case f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.ByteOrder(binary.LittleEndian):
		return nil, ErrMachine
	case f.Machine == elf.EM_X86_64:
		t.machine = amd64
	case f.Machine == elf.EM_AARCH64:
		t.machine = arm64
	default:
		return nil, ErrMachine
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			t.loads = append(t.loads, p.ProgHeader)
		}
	}
	if t.machine == amd64 {
		t.golang = readGolang(f)
	}
	s := f.Section(".eh_frame")
	if t.golang != nil && s == nil {
		return t, nil
	}
	if s == nil || s.Type == elf.SHT_NOBITS || s.Size == 0 || s.Size > maxSection || f.Type == elf.ET_REL {
		return nil, ErrNone
	}
	b, err := io.ReadAll(io.NewSectionReader(s, 0, int64(s.Size)))
	if err != nil {
		return nil, err
	}
	t.section, t.address = b, s.Addr
	t.index()
	return t, nil
}

// Size is the memory of the table in bytes.
func (t *Table) Size() int64 { return int64(cap(t.section)) + 16*int64(cap(t.ranges)) }

// Address is where an offset in the file is mapped, before relocation.
func (t *Table) Address(offset uint64) (address uint64, ok bool) {
	for _, l := range t.loads {
		if offset >= l.Off && offset-l.Off < l.Filesz {
			return offset - l.Off + l.Vaddr, true
		}
	}
	return 0, false
}

// index lists the functions. Records that can't be read are skipped by their length.
func (t *Table) index() {
	c := cursor{data: t.section, end: len(t.section)}
	for c.left() > 0 {
		at := c.at
		body, isFunction, ok := t.record(&c)
		if !ok {
			break
		}
		if !isFunction {
			continue
		}
		if f, _, ok := t.function(body); ok && f.size > 0 {
			f.at = uint32(at)
			t.ranges = append(t.ranges, f)
		}
	}
	slices.SortStableFunc(t.ranges, func(a, b function) int { return cmp.Compare(a.begin, b.begin) })
}

// record reads the head of a record, and moves behind the record. Its body begins with the number
// that tells what it is. It is not ok at the end.
func (t *Table) record(c *cursor) (body cursor, isFunction, ok bool) {
	size := uint64(c.u32())
	if size == math.MaxUint32 {
		size = c.u64()
	}
	at := c.at
	if size < 4 || c.take(size) == nil {
		return body, false, false
	}
	body = cursor{data: t.section, at: at, end: c.at}
	return body, binary.LittleEndian.Uint32(t.section[at:]) != 0, true
}

// common is what many functions have in common.
type common struct {
	codeUnit  uint64
	dataUnit  int64
	returns   uint64 // register of the return address
	encoding  byte   // of addresses
	augmented bool
	signal    bool // of a function that is the return of a signal's handler
	program   cursor
}

// function reads the head of a function's record, and moves to its program.
func (t *Table) function(c cursor) (f function, p programs, ok bool) {
	at := c.at
	back := c.u32()
	if uint64(back) > uint64(at) {
		return f, p, false
	}
	if p.common, ok = t.commonAt(at - int(back)); !ok {
		return f, p, false
	}
	f.begin = c.address(p.encoding, t.address)
	size := c.pointer(p.encoding & formOf)
	f.size = uint32(min(size, math.MaxUint32))
	if p.augmented {
		c.take(c.uleb())
	}
	p.own = c
	return f, p, !c.short && f.begin+size >= f.begin
}

// programs are what makes the rows of a function.
type programs struct {
	common
	own cursor
}

// maxAugmentation bounds the letters of a common record.
const maxAugmentation = 8

// commonAt reads the common record at an offset.
func (t *Table) commonAt(at int) (m common, ok bool) {
	head := cursor{data: t.section, at: at, end: len(t.section)}
	c, isFunction, ok := t.record(&head)
	if !ok || isFunction {
		return m, false
	}
	c.u32()
	version := c.u8()
	var room [maxAugmentation]byte
	letters := room[:0]
	for l := c.u8(); l != 0 && len(letters) < maxAugmentation; l = c.u8() {
		letters = append(letters, l)
	}
	m.codeUnit, m.dataUnit = c.uleb(), c.sleb()
	if version == 1 {
		m.returns = uint64(c.u8())
	} else {
		m.returns = c.uleb()
	}
	if version != 1 && version != 3 || len(letters) > 0 && letters[0] != 'z' || m.returns >= numRegisters {
		return m, false
	}
	if m.augmented = len(letters) > 0; m.augmented {
		extra := cursor{data: t.section, at: c.at, end: c.end}
		size := extra.uleb()
		extra.end = min(extra.end, extra.at+int(min(size, maxSection)))
		c.take(c.uleb())
		if !m.augment(letters[1:], &extra) {
			return m, false
		}
	}
	m.program = c
	return m, !c.short
}

// augment reads what the letters announce.
func (m *common) augment(letters []byte, c *cursor) bool {
	for _, l := range letters {
		switch l {
		case 'R':
			m.encoding = c.u8()
		case 'P':
			c.pointer(c.u8())
		case 'L':
			c.u8()
		case 'S':
			m.signal = true
		case 'B', 'G': // how arm64 signs and tags
		default:
			return false
		}
	}
	return !c.short
}

// find finds the function of an address before relocation.
func (t *Table) find(address uint64) (f function, p programs, ok bool) {
	i := sort.Search(len(t.ranges), func(i int) bool { return t.ranges[i].begin > address }) - 1
	if i < 0 || address-t.ranges[i].begin >= uint64(t.ranges[i].size) {
		return f, p, false
	}
	c := cursor{data: t.section, at: int(t.ranges[i].at), end: len(t.section)}
	body, _, ok := t.record(&c)
	if !ok {
		return f, p, false
	}
	return t.function(body)
}
