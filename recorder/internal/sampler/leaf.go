//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"debug/elf"
	"encoding/binary"
	"reflect"
	"runtime"
	"unsafe"

	"gprof/recorder/internal/modules"
)

// leafTable finds functions that have no frame, or have not made it yet: frame pointers
// skip their callers. It reads the table by which the runtime unwinds stacks, in the
// process' memory.
type leafTable struct {
	pctab   uintptr // 0: not found
	quantum uintptr // the unit of code addresses, in bytes
}

const (
	pclnMagic = 0xfffffff1
	offUnit   = 6 // in the table's head
	offPctab  = 56
	offPcsp   = 16      // in a function's entry
	pcsBytes  = 1 << 16 // the longest list of a function, in bytes
)

func (t *leafTable) known() bool { return t.pctab != 0 }

// open finds the table and tests it on two known functions.
func (t *leafTable) open() {
	head := pclntab()
	if head == 0 || load32(head) != pclnMagic || load8(head+7) != unsafe.Sizeof(head) {
		return
	}
	t.pctab, t.quantum = head+load64(head+offPctab), load8(head+offUnit)
	entry := reflect.ValueOf(sampleEntry).Pointer()
	var here [1]uintptr
	runtime.Callers(1, here[:])
	if !t.frameless(entry) || t.frameless(here[0]-1) {
		t.pctab = 0
	}
}

// The table is not in Go's heap, so a number may be converted to a pointer into it.
func static(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

func load8(at uintptr) uintptr  { return uintptr(*(*uint8)(static(at))) }
func load32(at uintptr) uint32  { return *(*uint32)(static(at)) }
func load64(at uintptr) uintptr { return *(*uintptr)(static(at)) }

// frameless reports whether the code at pc has nothing on the stack except, on amd64, its
// return address.
func (t *leafTable) frameless(pc uintptr) bool {
	if t.pctab == 0 {
		return false
	}
	f := runtime.FuncForPC(pc)
	if f == nil {
		return false
	}
	entry := f.Entry()
	f = runtime.FuncForPC(entry) // pc may be in an inlined function, which has an entry elsewhere
	if f == nil || f.Entry() != entry {
		return false
	}
	pcsp := load32(uintptr(unsafe.Pointer(f)) + offPcsp)
	return pcsp != 0 && t.delta(t.pctab+uintptr(pcsp), entry, pc) == 0
}

// delta is how far the stack pointer is below the return address at pc. The list at at
// consists of changes: a difference of the value, and how many bytes of code the new value
// holds for. -1: the list does not say.
func (t *leafTable) delta(at, from, pc uintptr) int64 {
	value := int64(-1)
	end := at + pcsBytes
	for at < end {
		change, n := readVarint(at)
		if change == 0 && value != -1 {
			return -1
		}
		length, m := readVarint(at + n)
		at += n + m
		value += int64(change>>1) ^ -int64(change&1)
		if from += length * t.quantum; pc < from {
			return value
		}
	}
	return -1
}

func readVarint(at uintptr) (v, n uintptr) {
	for shift := 0; shift < 35; shift += 7 {
		b := load8(at + n)
		n++
		v |= b & 0x7f << shift
		if b < 0x80 {
			break
		}
	}
	return v, n
}

// pclntab is where the table's section is mapped, 0 if it is not found.
func pclntab() uintptr {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		return 0
	}
	defer f.Close()
	s := f.Section(".gopclntab")
	if s == nil {
		s = f.Section(".data.rel.ro.gopclntab")
	}
	start, _, offset := ownMapping()
	if s == nil || f.ByteOrder != binary.LittleEndian || start == 0 {
		return 0
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Off <= offset && offset < p.Off+p.Filesz {
			return uintptr(s.Addr + start - (p.Vaddr + offset - p.Off))
		}
	}
	return 0
}

// ownMapping is the mapping of our code, 0 if it is not found.
func ownMapping() (start, end, offset uint64) {
	here := uint64(reflect.ValueOf(sampleEntry).Pointer())
	m := modules.Find(func(m *modules.Module) bool { return m.Start <= here && here < m.End })
	return m.Start, m.End, m.Offset
}

// textRange is where the program's code lies.
func textRange() (text, etext uintptr) {
	start, end, _ := ownMapping()
	return uintptr(start), uintptr(end)
}
