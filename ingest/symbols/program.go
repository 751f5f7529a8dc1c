package symbols

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"gprof/rawformat/jitcode"
	"gprof/rawformat/kallsyms"
)

// maxTable bounds a table of a program in memory.
const maxTable = 1 << 30

// program is the tables of an ELF file.
type program struct {
	loads   []elf.ProgHeader // mapped from the file
	laid    bool             // they are where the kernel lays a module, not in its file
	golang  *lineTable       // nil: not of Go
	symbols []elf.Symbol     // functions, by address
	kernel  *kallsyms.List   // nil: it is no kernel
	made    *jitcode.List    // nil: it is a file
}

func openProgram(name string) (*program, error) {
	if filepath.Base(name) == kallsyms.Name {
		return openKernel(name)
	}
	if _, ok := madeBy(name); ok {
		return openMade(name)
	}
	f, err := openELF(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readProgram(f), nil
}

// readProgram reads Go's line table, and symbols for what that lacks, such as C.
func readProgram(f *elf.File) *program {
	p := &program{}
	for _, s := range f.Progs {
		if s.Type == elf.PT_LOAD {
			p.loads = append(p.loads, s.ProgHeader)
		}
	}
	p.golang = readLineTable(f)
	symbols, err := f.Symbols()
	if err != nil {
		symbols, _ = f.DynamicSymbols()
	}
	if f.Type == elf.ET_REL {
		p.loads, symbols = placeModule(f, symbols)
		p.laid = true
	}
	for _, s := range symbols {
		if kind := elf.ST_TYPE(s.Info); (kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC) && (s.Value != 0 || f.Type == elf.ET_REL) && s.Name != "" {
			p.symbols = append(p.symbols, s)
		}
	}
	slices.SortStableFunc(p.symbols, func(a, b elf.Symbol) int { return cmp.Or(cmp.Compare(a.Value, b.Value), byPreference(a, b)) })
	return p
}

// byPreference sorts symbols of one address; the last one names the function: global, with a size,
// few leading underscores, and long, as in perf.
func byPreference(a, b elf.Symbol) int {
	rank := map[elf.SymBind]int{elf.STB_WEAK: 1, elf.STB_GLOBAL: 2}
	underscores := func(s elf.Symbol) int { return len(s.Name) - len(strings.TrimLeft(s.Name, "_")) }
	return cmp.Or(cmp.Compare(min(a.Size, 1), min(b.Size, 1)), cmp.Compare(rank[elf.ST_BIND(a.Info)], rank[elf.ST_BIND(b.Info)]),
		cmp.Compare(underscores(b), underscores(a)), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(b.Name, a.Name))
}

// lookup returns the functions at a file offset.
func (p *program) lookup(offset uint64) []Function {
	if p.made != nil {
		return madeAt(p.made, offset)
	}
	address, ok := p.address(offset)
	if !ok {
		return nil
	}
	if p.golang != nil {
		if chain := p.golang.lookup(address); chain != nil {
			return chain
		}
	}
	if s, _, ok := symbolAt(p.symbols, address); ok {
		return []Function{{Name: demangle.Filter(s.Name, demangle.NoParams)}}
	}
	return nil
}

// address is where an offset is mapped, before relocation.
func (p *program) address(offset uint64) (uint64, bool) {
	l, ok := p.load(offset)
	return offset - l.Off + l.Vaddr, ok
}

// load is the part of the file that is mapped with an offset.
func (p *program) load(offset uint64) (elf.ProgHeader, bool) {
	for _, l := range p.loads {
		if offset >= l.Off && offset-l.Off < l.Filesz {
			return l, true
		}
	}
	return elf.ProgHeader{}, false
}

// image reads the initial memory of a program.
type image struct{ *elf.File }

// bytes returns n bytes at an address; fewer at the end of the file, nil if there are none.
func (m image) bytes(address uint64, n int) []byte {
	for _, s := range m.Progs {
		if s.Type == elf.PT_LOAD && address >= s.Vaddr && address-s.Vaddr < s.Filesz {
			b := make([]byte, min(uint64(n), s.Filesz-(address-s.Vaddr)))
			read, err := s.ReadAt(b, int64(address-s.Vaddr))
			if err != nil && err != io.EOF {
				return nil
			}
			return b[:read]
		}
	}
	return nil
}

// relocated returns the words of a section, relocated to base 0.
func (m image) relocated(s *elf.Section, words int) []uint64 {
	b := make([]byte, 8*words)
	if n, _ := s.ReadAt(b, 0); n < len(b) {
		return nil
	}
	out := make([]uint64, words)
	for i := range out {
		out[i] = m.ByteOrder.Uint64(b[8*i:])
	}
	const amd64, arm64 = uint32(elf.R_X86_64_RELATIVE), uint32(elf.R_AARCH64_RELATIVE)
	rela := m.section(".rela.dyn")
	if rela == nil {
		rela = m.section(".rela")
	}
	for ; len(rela) >= 24; rela = rela[24:] {
		at := m.ByteOrder.Uint64(rela) - s.Addr
		kind := m.ByteOrder.Uint32(rela[m.kindOffset():])
		if at < uint64(len(b)) && at%8 == 0 && (kind == amd64 || kind == arm64) {
			out[at/8] = m.ByteOrder.Uint64(rela[16:])
		}
	}
	return out
}

// kindOffset is the offset of the low word of a relocation's info.
func (m image) kindOffset() int {
	if m.ByteOrder == binary.BigEndian {
		return 12
	}
	return 8
}

// section returns the bytes of a section, nil if missing or implausibly large.
func (m image) section(name string) []byte {
	s := m.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS || s.Size > maxTable {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	return b
}
