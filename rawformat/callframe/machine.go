package callframe

import (
	"encoding/binary"
	"math/bits"
)

// numRegisters is how many registers are followed, by their DWARF numbers. Those of vectors, which
// have higher ones, never tell where a caller is.
const numRegisters = 33

// machine is what a processor's registers are for, by their DWARF numbers.
type machine struct {
	sp, fp, pc int
	link       bool   // a call keeps the return address in a register
	address    uint64 // bits of an address; others may sign it
	perf       []int8 // DWARF numbers, by bit of sample_regs_user; -1: none
}

var (
	amd64 = &machine{sp: 7, fp: 6, pc: 16, address: 1<<64 - 1,
		perf: []int8{0, 3, 2, 1, 4, 5, 6, 7, 16, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15}}
	arm64 = &machine{sp: 31, fp: 29, pc: 32, address: 1<<52 - 1, link: true,
		perf: []int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}}
)

// Registers are those of a thread. The zero value is of no known processor.
type Registers struct {
	machine *machine
	value   [numRegisters]uint64
	known   uint64 // bits
}

// Bits of sample_regs_user that ask for all registers that a [Walker] uses.
const (
	WantAMD64 = 0xff01ff
	WantARM64 = 1<<33 - 1
)

// FromPerf are registers as a sample holds them: of the bits that were asked for, the lowest first,
// 8 bytes each. They are not ok if those that every step needs are missing, or if the processor is
// neither amd64 nor arm64.
func FromPerf(asked uint64, b []byte) (r Registers, ok bool) {
	if len(b) < 8*bits.OnesCount64(asked) {
		return r, false
	}
	r.machine = amd64
	if asked>>len(amd64.perf) != 0 {
		r.machine = arm64
	}
	for ; asked != 0; asked &= asked - 1 {
		if bit := bits.TrailingZeros64(asked); bit < len(r.machine.perf) && r.machine.perf[bit] >= 0 {
			r.set(int(r.machine.perf[bit]), binary.LittleEndian.Uint64(b))
		}
		b = b[8:]
	}
	return r, r.has(r.machine.sp) && r.has(r.machine.pc)
}

func (r *Registers) has(n int) bool { return r.known>>n&1 != 0 }

func (r *Registers) set(n int, v uint64) {
	r.value[n] = v
	r.known |= 1 << n
}

// get returns a register's value; not ok if it is unknown or not followed.
func (r *Registers) get(n uint64) (uint64, bool) {
	if n >= numRegisters || !r.has(int(n)) {
		return 0, false
	}
	return r.value[n], true
}

// PC is where the thread was, 0 unknown.
func (r *Registers) PC() uint64 {
	if r.machine == nil {
		return 0
	}
	return r.value[r.machine.pc]
}

// SP is the top of the thread's stack, 0 unknown.
func (r *Registers) SP() uint64 {
	if r.machine == nil {
		return 0
	}
	return r.value[r.machine.sp]
}

// Stack is a copy of a stack from its top on.
type Stack struct {
	Base  uint64 // address of the first byte
	Bytes []byte
}

// word reads 8 bytes at an address.
func (s *Stack) word(address uint64) (uint64, bool) { return s.read(address, 8) }

func (s *Stack) read(address uint64, size int) (uint64, bool) {
	at := address - s.Base
	if address < s.Base || at > uint64(len(s.Bytes)) || uint64(len(s.Bytes))-at < uint64(size) {
		return 0, false
	}
	b := s.Bytes[at:]
	switch size {
	case 1:
		return uint64(b[0]), true
	case 2:
		return uint64(binary.LittleEndian.Uint16(b)), true
	case 4:
		return uint64(binary.LittleEndian.Uint32(b)), true
	}
	return binary.LittleEndian.Uint64(b), true
}

// isBeyond reports whether an address is behind the copy: the stack goes on there.
func (s *Stack) isBeyond(address uint64) bool {
	const most = 64 << 20 // no thread's stack is larger by default; another stack is elsewhere
	end := s.Base + uint64(len(s.Bytes))
	return address+8 > end && address-s.Base < most
}
