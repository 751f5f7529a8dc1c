package symbols

import (
	"cmp"
	"debug/elf"
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/ianlancetaylor/demangle"

	"gprof/rawformat/buildid"
)

// Errors of code that can't be read.
var (
	ErrNoCode     = errors.New("its program is not here")
	ErrNoFunction = errors.New("its program has no function there")
	ErrReplaced   = errors.New("its program has been replaced by another build")
)

// maxCode bounds the code of a function, in bytes.
const maxCode = 4 << 20

// Body is where the code of a function lies in its program.
type Body struct {
	Name       string
	Start, End uint64 // in the file, End behind it
	Go         bool   // compiled by Go

	// Shifted says that code does not lie as far from the beginning of the file as from that of the
	// program in memory: tools differ in what they call its place.
	Shifted bool
}

// Code is the machine code of a function. It may be used concurrently.
type Code struct {
	Body
	Bytes   []byte
	Machine elf.Machine

	program *program
	data    []elf.Symbol // by address
	moved   uint64       // to where the code is mapped from where it lies in the file
}

// Symbol returns the function or variable at a place, and where it begins; "" if unknown. Code refers to places by
// their distance in memory; of those outside the code that is not their distance in the file.
func (c *Code) Symbol(place uint64) (name string, start uint64) {
	address := place + c.moved
	name, start, _, ok := c.program.function(address)
	if s, _, is := symbolAt(c.data, address); !ok && is {
		name, start = demangle.Filter(s.Name, demangle.NoParams), s.Value
	}
	return name, start - c.moved
}

// Has reports whether the code of a build is here.
func (s *Set) Has(build string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.codeFile(build)
	return ok
}

// codeFile is a file that has the code of a build.
func (s *Set) codeFile(build string) (name string, ok bool) {
	for _, f := range s.filesOf(build) {
		if _, list := madeBy(f.name); f.holds != onlyNames && !list && !isKernelList(f.name) && !isPacked(f.name) {
			return f.name, true
		}
	}
	return "", false
}

// Body returns where the code around an offset in the program of a build lies. The error is [ErrNoCode] or
// [ErrNoFunction].
func (s *Set) Body(build string, offset uint64) (Body, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.codeFile(build); !ok {
		return Body{}, ErrNoCode
	}
	b, _, err := s.body(build, offset)
	return b, err
}

// body returns the program that knows the function, too.
func (s *Set) body(build string, offset uint64) (Body, *program, error) {
	for _, f := range s.filesOf(build) {
		if p := s.tables(build, f); p != nil {
			if b, ok := p.body(offset); ok {
				return b, p, nil
			}
		}
	}
	return Body{}, nil, ErrNoFunction
}

// Code reads the code of the function around an offset in the program of a build. The error is [ErrNoCode],
// [ErrNoFunction], [ErrReplaced], or the disk's.
func (s *Set) Code(build string, offset uint64) (*Code, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.codeFile(build)
	if !ok {
		return nil, ErrNoCode
	}
	b, p, err := s.body(build, offset)
	if err != nil {
		return nil, err
	}
	return readCode(name, build, b, p)
}

// readCode reads code from a file, which may be another one than it was when its tables were read.
func readCode(name, build string, b Body, p *program) (*Code, error) {
	f, err := elf.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if id, err := buildid.Of(f); err != nil || id != build {
		return nil, ErrReplaced
	}
	at, _ := p.address(b.Start)
	code := image{f}.bytes(at, int(min(b.End-b.Start, maxCode)))
	if code == nil {
		return nil, ErrNoFunction
	}
	return &Code{Body: b, Bytes: code, Machine: f.Machine, program: p, data: variables(f), moved: at - b.Start}, nil
}

// variables are the symbols of a program's data.
func variables(f *elf.File) (data []elf.Symbol) {
	all, _ := f.Symbols() // a stripped program has none
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_OBJECT && s.Size != 0 && s.Name != "" {
			data = append(data, s)
		}
	}
	slices.SortFunc(data, func(a, b elf.Symbol) int { return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name)) })
	return data
}

// body is where the function around an offset lies.
func (p *program) body(offset uint64) (b Body, ok bool) {
	l, ok := p.load(offset)
	if !ok || p.laid {
		return b, false
	}
	address := offset - l.Off + l.Vaddr
	name, start, end, ok := p.function(address)
	if !ok || start < l.Vaddr || address < start || address >= end {
		return b, false
	}
	first := p.loads[0]
	return Body{
		Name: name, Start: start - l.Vaddr + l.Off, End: min(end-l.Vaddr, l.Filesz) + l.Off,
		Go:      p.golang != nil && p.golang.has(address),
		Shifted: l.Vaddr-l.Off != first.Vaddr-first.Off,
	}, true
}

// function is the function around an address.
func (p *program) function(address uint64) (name string, start, end uint64, ok bool) {
	if p.golang != nil {
		if f, ok := p.golang.find(address); ok {
			return text(p.golang.names, p.golang.order.Uint32(f.fixed[4:])), f.entry, f.end, true
		}
	}
	s, end, ok := symbolAt(p.symbols, address)
	if !ok || !p.maps(address) {
		return "", 0, 0, false
	}
	return demangle.Filter(s.Name, demangle.NoParams), s.Value, end, true
}

// symbolAt is the symbol around an address. One without a size ends where the next one begins.
func symbolAt(all []elf.Symbol, address uint64) (s elf.Symbol, end uint64, ok bool) {
	i := sort.Search(len(all), func(i int) bool { return all[i].Value > address })
	if i == 0 {
		return s, 0, false
	}
	s, end = all[i-1], math.MaxUint64
	switch {
	case s.Size != 0:
		end = s.Value + s.Size
	case i < len(all):
		end = all[i].Value
	}
	return s, end, address < end
}

// maps reports whether an address is of code.
func (p *program) maps(address uint64) bool {
	return slices.ContainsFunc(p.loads, func(l elf.ProgHeader) bool {
		return l.Flags&elf.PF_X != 0 && address >= l.Vaddr && address-l.Vaddr < l.Filesz
	})
}
