package rawformat

import "hash/crc32"

// MagicStacks begins a stack ring file.
const MagicStacks = "gprT"

// Sizes of a stack ring: a head of one page, and words whose number is a power of two. They
// hold what a busy thread samples in several rounds of the housekeeper.
const (
	StacksHead  = PageSize
	StacksWords = 2048
	StacksFile  = StacksHead + 8*StacksWords
)

// Offsets of the words of a stack ring's head that change.
const (
	OffStacksCRC   = 40
	OffStacksHead  = 64
	OffStacksLost  = 72
	OffStacksCPU   = 80
	OffStacksTail  = 128
	OffStacksNext  = 136
	OffStacksIndex = 144
)

// Parts of a record in a stack ring, in words.
const (
	StackFixed   = 6  // size, time, goroutine, labels, pc, top of stack
	StackExtra   = 40 // at most, beside the return addresses: CPU time, labels, and the root of a deep stack
	MaxStackWord = MaxReturns + StackExtra
)

// MaxReturns is how many return addresses a record may have, not counting those of the
// root. A ring has room for three such records.
const MaxReturns = 512

// StacksHeader is the head of a stack ring at the moment when it was read. The first words
// are fixed, and have a CRC; the others are written while the ring is in use.
//
//	 0  magic "gprT"      4        64  head      8, words ever written
//	 4  version           2        72  lost      8, records without room
//	 6  clock kind        2       128  tail      8, words drained
//	 8  instance          8       136  next      8, the tail after the block at index
//	16  pid               4       144  index     8, of the block that takes what
//	20  tid               4                      lies between tail and next; 0 none
//	24  period            8        80  cpu       8, the thread's CPU clock at the
//	                                             last record, for the handler
//	32  0                 8
//	40  CRC-32C of 0..39  4
type StacksHeader struct {
	Version    uint16
	Clock      ClockKind // of records
	Instance   uint64
	Pid, Tid   uint32
	Period     uint64 // ns of CPU time that a record stands for
	Head, Lost uint64
	Tail, Next uint64
	Index      uint64
}

// PutStacksHeader writes the fixed words of h to dst, at least [StacksHead]
// zero bytes.
func PutStacksHeader(dst []byte, h *StacksHeader) {
	copy(dst, MagicStacks)
	le.PutUint16(dst[4:], h.Version)
	le.PutUint16(dst[6:], uint16(h.Clock))
	le.PutUint64(dst[8:], h.Instance)
	le.PutUint32(dst[16:], h.Pid)
	le.PutUint32(dst[20:], h.Tid)
	le.PutUint64(dst[24:], h.Period)
	le.PutUint32(dst[OffStacksCRC:], crc32.Update(0, castagnoli, dst[:OffStacksCRC]))
}

// ReadStacksHeader reads the head of a stack ring. The error is an [*Error] of
// class [ErrTruncated], [ErrMagic], [ErrVersion] or [ErrHeader].
func ReadStacksHeader(b []byte) (h StacksHeader, err error) {
	const what = "stack ring header"
	if len(b) < StacksHead {
		return h, &Error{int64(len(b)), what, ErrTruncated}
	}
	h = StacksHeader{
		Version: le.Uint16(b[4:]), Clock: ClockKind(le.Uint16(b[6:])), Instance: le.Uint64(b[8:]), Pid: le.Uint32(b[16:]), Tid: le.Uint32(b[20:]), Period: le.Uint64(b[24:]),
		Head: le.Uint64(b[OffStacksHead:]), Lost: le.Uint64(b[OffStacksLost:]),
		Tail: le.Uint64(b[OffStacksTail:]), Next: le.Uint64(b[OffStacksNext:]), Index: le.Uint64(b[OffStacksIndex:]),
	}
	switch {
	case string(b[:4]) != MagicStacks:
		return h, &Error{0, what, ErrMagic}
	case h.Version > Version:
		return h, &Error{4, what, ErrVersion}
	case crc32.Update(0, castagnoli, b[:OffStacksCRC]) != le.Uint32(b[OffStacksCRC:]):
		return h, &Error{OffStacksCRC, what, ErrHeader}
	}
	return h, nil
}

// StackRecord is one sample in a stack ring.
type StackRecord struct {
	Time      uint64   // ticks of the ring's clock
	Goroutine uint64   // 0: none, or not known
	Labels    uint64   // address of its labels, which only the process understands
	Periods   uint64   // of CPU time that it stands for
	CPU       uint64   // ns of CPU time since the thread's record before, plus 1; 0: not measured
	PC        uint64   // that was interrupted
	Top       uint64   // where a function without a frame returns to: the word at the top of the stack, or the link register
	Returns   []uint64 // return addresses, leaf first, and labels, see [StackLabel] and [StackCut]
}

// CPUTime is the CPU time of the record in ns: measured, or else so many periods.
func (r *StackRecord) CPUTime(period uint64) uint64 {
	if r.CPU > 0 {
		return r.CPU - 1
	}
	return r.Periods * period
}

// A label among return addresses has the bit StackLabel; the low 32 bits are its number. It
// is placed at the function that began it, after the functions which that called; labels
// with one of the other bits come first in the stack.
const (
	StackLabel    = 1 << 63
	StackLabelPC  = 1 << 62 // before the pc
	StackLabelTop = 1 << 61 // between pc and top; on arm64 before a pc whose function has a frame
)

// StackCut marks the place among return addresses where others were left out. It is followed
// by the outermost ones, if they are known, and labels.
const StackCut = StackLabel | 1<<60

// StackCPU marks the word behind the fixed ones whose other bits are the CPU time. Readers that don't know it take it for
// a label.
const StackCPU = StackLabel | 1<<59

// TruncatedPC is not a place in the code. In a stack that was too deep it stands for the
// frames that were left out, between the innermost ones and those of the root.
const TruncatedPC = 1

// Stack returns the stack as pcs, leaf first, each inside its instruction. Labels are left
// out, and so is the caller of a function without a frame. [TruncatedPC] stands for frames
// that were left out of the record.
func (r *StackRecord) Stack() []uint64 {
	pcs := append(make([]uint64, 0, 1+len(r.Returns)), r.PC)
	for _, pc := range r.Returns {
		switch {
		case pc == StackCut:
			pcs = append(pcs, TruncatedPC)
		case pc&StackLabel == 0 && pc != 0:
			pcs = append(pcs, pc-1)
		}
	}
	return pcs
}

// StacksReader reads records of a stack ring.
type StacksReader struct {
	Word func(i uint64) uint64 // word i of [StacksWords]
	Tail uint64                // of the next record
	Head uint64
	room [MaxStackWord]uint64
}

// Next reads the record at the tail and advances. The record is valid until the next call.
// It returns false if there is none, or if err says what is wrong with it; nothing after
// that can be read.
func (r *StacksReader) Next(rec *StackRecord) (ok bool, err error) {
	if r.Tail == r.Head {
		return false, nil
	}
	first := r.Word(r.Tail % StacksWords)
	size := first & 0xffff
	if r.Head-r.Tail > StacksWords || size < StackFixed || size > MaxStackWord || size > r.Head-r.Tail || first>>32 != r.Tail&(1<<32-1) {
		return false, &Error{StacksHead + int64(r.Tail%StacksWords)*8, "stack record", ErrSyntax}
	}
	words := r.room[:size]
	for i := range words {
		words[i] = r.Word((r.Tail + uint64(i)) % StacksWords)
	}
	*rec = StackRecord{Time: words[1], Goroutine: words[2], Labels: words[3], Periods: 1 + first>>16&0xffff, PC: words[4], Top: words[5], Returns: words[StackFixed:]}
	if len(rec.Returns) > 0 && rec.Returns[0]>>59 == StackCPU>>59 {
		rec.CPU, rec.Returns = rec.Returns[0]&^StackCPU, rec.Returns[1:]
	}
	r.Tail += size
	return true, nil
}
