package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"gprof/rawformat/buildid"
	"gprof/rawformat/callframe"
)

// tinyTable is a table of one function with one inlined call.
func tinyTable() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, magic120)
	b = append(b, 0, 0, 1, 8)
	const names, units, files, pcs, funcs = headerSize, headerSize + 16, headerSize + 24, headerSize + 32, headerSize + 48
	for _, w := range []uint64{1, 1, 0x1000, names, units, files, pcs, funcs} {
		b = le.AppendUint64(b, w)
	}
	b = append(b, "main.f\x00main.g\x00\x00\x00"...)
	b = le.AppendUint32(le.AppendUint32(b, 0), 0)
	b = append(b, "a.go\x00\x00\x00\x00"...)
	b = append(b, 0, 2, 16, 0, 22, 16, 0, 0, 0, 4, 2, 12, 0, 0, 0, 0)
	for _, w := range []uint32{0, 12, 16, // function table and its end
		0, 0, 0, 0, 0, 1, 4, 3, 0, 1, 4 << 24, // the function
		0, 0, 8, // pcdata
		^uint32(0), ^uint32(0), ^uint32(0), 0} { // funcdata
		b = le.AppendUint32(b, w)
	}
	return b
}

// The table is only what a file says: no place of it may lead to a panic.
func FuzzLineTable(f *testing.F) {
	calls := make([]byte, inlineSize)
	calls[4] = 7 // main.g
	f.Add(tinyTable(), calls, uint64(0x1004))
	f.Fuzz(func(t *testing.T, table, calls []byte, address uint64) {
		lines := newLineTable(binary.LittleEndian, table)
		if lines == nil {
			return
		}
		lines.data = calls
		if chain := lines.lookup(address); len(chain) > maxInline+1 {
			t.Errorf("a chain of %d functions", len(chain))
		}
		p := &program{golang: lines, loads: []elf.ProgHeader{{Vaddr: 0x1000, Filesz: 1 << 20}}}
		if b, ok := p.body(address); ok && (address < b.Start || address >= b.End || b.End > 1<<20) {
			t.Errorf("around %#x: %+v", address, b)
		}
	})
}

func TestTinyTable(t *testing.T) {
	calls := make([]byte, inlineSize)
	calls[4] = 7
	lines := newLineTable(binary.LittleEndian, tinyTable())
	if lines == nil {
		t.Fatal("not a table")
	}
	lines.data = calls
	calls[8] = 4 // its caller lies in itself
	if got := lines.lookup(0x1004); got != nil {
		t.Errorf("a circle gives %d functions", len(got))
	}
	calls[8] = 0
	got := lines.lookup(0x1004)
	if len(got) != 2 || got[0].Name != "main.f" || got[1].Name != "main.g" || got[1].File != "a.go" || got[1].Line != 10 {
		t.Errorf("%+v", got)
	}
	for _, address := range []uint64{0xfff, 0x1010, 0, ^uint64(0)} {
		if got := lines.lookup(address); got != nil {
			t.Errorf("at %#x: %+v", address, got)
		}
	}
}

// tinyELF is a program without sections, or a module without code.
func tinyELF(kind elf.Type) []byte {
	var b bytes.Buffer
	h := elf.Header64{Type: uint16(kind), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	binary.Write(&b, binary.LittleEndian, h)
	binary.Write(&b, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_LOAD), Vaddr: 0x1000, Filesz: 120, Memsz: 120})
	return b.Bytes()
}

func FuzzProgram(f *testing.F) {
	f.Add(tinyELF(elf.ET_EXEC), uint64(8))
	f.Add(tinyELF(elf.ET_REL), uint64(8))
	f.Fuzz(func(t *testing.T, data []byte, offset uint64) {
		e, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			return
		}
		buildid.Of(e)
		readProgram(e).lookup(offset)
		if t, err := callframe.Read(e); err == nil {
			t.Address(offset)
		}
	})
}

func FuzzBuildIn(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "\x04\x00\x00\x00\x08\x00\x00\x00\x03\x00\x00\x00GNU\x00BBBBBBBB"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if id := buildIn(b); len(id) > 2*len(b) {
			t.Errorf("a build id of %d digits in %d bytes", len(id), len(b))
		}
	})
}
