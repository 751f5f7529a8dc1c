package perfevent

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Bits of an attr's sample_type, in the order of their fields, as far as they are read here.
const (
	SampleIP = 1 << iota
	SampleTID
	SampleTime
	SampleAddr
	SampleRead
	SampleChain
	SampleID
	SampleCPU
	SamplePeriod
	SampleStream
	SampleRaw
	SampleBranches
	SampleUserRegs
	SampleUserStack

	SampleIdentifier = 1 << 16
)

// trailerFields are those that end every record, if all have an id.
const trailerFields = SampleTID | SampleTime | SampleID | SampleStream | SampleCPU | SampleIdentifier

// Bits of an attr's flags that affect records.
const (
	FlagInherit = 1 << 1  // children are sampled, too
	FlagFreq    = 1 << 10 // the period is a frequency
	FlagIDAll   = 1 << 18 // other records than samples have a trailer
)

// Bits of an attr's read_format.
const (
	readEnabled = 1 << iota
	readRunning
	readID
	readGroup
	readLost
)

// Marks in a call chain tell the context of the addresses after them. Values from MarkLowest on are
// marks.
const (
	MarkHypervisor  = -32 & (1<<64 - 1)
	MarkKernel      = -128 & (1<<64 - 1)
	MarkUser        = -512 & (1<<64 - 1)
	MarkGuest       = -2048 & (1<<64 - 1)
	MarkGuestKernel = -2176 & (1<<64 - 1)
	MarkGuestUser   = -2560 & (1<<64 - 1)
	MarkLowest      = -4095 & (1<<64 - 1)
)

// MarksKernel reports whether a mark begins kernel addresses.
func MarksKernel(mark uint64) bool {
	return mark == MarkKernel || mark == MarkHypervisor || mark == MarkGuestKernel
}

// Layout is how an event was opened, as far as it affects records.
type Layout struct {
	Sample uint64 // sample_type
	Read   uint64 // read_format
	Flags  uint64
	Period uint64 // or a frequency, see FlagFreq

	Branches uint64 // branch_sample_type
	UserRegs uint64 // sample_regs_user
}

// Sample is what is read of a sample.
type Sample struct {
	IP       uint64
	Pid, Tid int32
	Time     uint64
	Period   uint64
	Chain    []uint64 // innermost first, with marks; reusable by the caller
	Values   []Value  // of counters, likewise

	UserIP   uint64 // of the user's code, by its registers; 0 unknown
	Branches bool   // there are branch records
	Copied   bool   // there is a copy of the user's stack

	Regs  []byte // the user's 64-bit registers, of the bits of UserRegs; nil: none. It is the body's memory
	Stack []byte // the copy, from the stack pointer on, likewise
}

// Value is the value of an event's counter.
type Value struct{ ID, Value uint64 }

// ParseSample parses a sample. It is not ok if that is too short.
func (l *Layout) ParseSample(body []byte, s *Sample) (ok bool) {
	f := fields{rest: body}
	has := func(bit uint64) bool { return l.Sample&bit != 0 }
	field := func(bit uint64) uint64 {
		if has(bit) {
			return f.u64()
		}
		return 0
	}
	field(SampleIdentifier)
	s.IP = field(SampleIP)
	who := field(SampleTID)
	s.Pid, s.Tid = int32(who), int32(who>>32)
	s.Time = field(SampleTime)
	field(SampleAddr)
	field(SampleID)
	field(SampleStream)
	field(SampleCPU)
	s.Period = l.fixedPeriod()
	if has(SamplePeriod) {
		s.Period = f.u64()
	}
	s.Values = s.Values[:0]
	if has(SampleRead) {
		s.Values = l.appendValues(s.Values, &f)
	}
	s.Chain = s.Chain[:0]
	if has(SampleChain) {
		raw := f.take(8 * min(f.u64(), 1<<32))
		s.Chain = slices.Grow(s.Chain, len(raw)/8)[:len(raw)/8]
		for i := range s.Chain {
			s.Chain[i] = binary.LittleEndian.Uint64(raw[8*i:])
		}
	}
	ok = !f.short
	l.parseUser(&f, s)
	return ok
}

// Bits of an attr's branch_sample_type that affect samples.
const (
	branchIndex    = 1 << 17
	branchCounters = 1 << 19
)

// parseUser parses what follows the call chain, as far as readable.
func (l *Layout) parseUser(f *fields, s *Sample) {
	s.UserIP, s.Branches, s.Copied, s.Regs, s.Stack = 0, false, false, nil, nil
	has := func(bit uint64) bool { return l.Sample&bit != 0 }
	if has(SampleRaw) {
		f.take(uint64(f.u32()))
	}
	if has(SampleBranches) {
		n := f.u64()
		f.skip(bits.OnesCount64(l.Branches & branchIndex))
		f.take(min(n, 1<<32) * 8 * uint64(3+bits.OnesCount64(l.Branches&branchCounters)))
		s.Branches = n > 0 && !f.short
	}
	if has(SampleUserRegs) {
		if abi := f.u64(); abi != 0 {
			regs := f.take(8 * uint64(bits.OnesCount64(l.UserRegs)))
			s.UserIP = l.userIP(regs)
			if abi == abi64 {
				s.Regs = regs
			}
		}
	}
	if has(SampleUserStack) {
		room := f.u64()
		b := f.take(room)
		if room > 0 {
			n := f.u64()
			s.Copied, s.Stack = n > 0, b[:min(n, uint64(len(b)))]
		}
	}
}

// abi64 says that registers are a 64-bit program's.
const abi64 = 2

// Registers recorded for later unwinding.
const (
	regsAMD64 = 0xff0fff
	regsARM64 = 1<<33 - 1
)

// userIP is the instruction pointer among registers, 0 if unknown.
func (l *Layout) userIP(regs []byte) uint64 {
	at := -1
	switch {
	case l.UserRegs == regsAMD64:
		at = 8
	case l.UserRegs&regsARM64 == regsARM64:
		at = 32
	}
	if at < 0 || 8*at+8 > len(regs) {
		return 0
	}
	return binary.LittleEndian.Uint64(regs[8*at:])
}

// fixedPeriod is the period of all samples, if they have none.
func (l *Layout) fixedPeriod() uint64 {
	if l.Flags&FlagFreq != 0 {
		return 1
	}
	return max(1, l.Period)
}

// appendValues appends the values of counters.
func (l *Layout) appendValues(values []Value, f *fields) []Value {
	n, times := uint64(1), bits.OnesCount64(l.Read&(readEnabled|readRunning))
	if l.Read&readGroup != 0 {
		n = f.u64()
		f.skip(times)
		times = 0
	}
	for ; n > 0; n-- {
		v := Value{Value: f.u64()}
		f.skip(times)
		if l.Read&readID != 0 {
			v.ID = f.u64()
		}
		f.skip(bits.OnesCount64(l.Read & readLost))
		if f.short {
			break
		}
		values = append(values, v)
	}
	return values
}

// Trailer is the end of other records than samples.
type Trailer struct {
	Pid, Tid int32
	Time     uint64
}

// trailerSize is the size of the trailer, 0 for none.
func (l *Layout) trailerSize() int {
	if l.Flags&FlagIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(l.Sample&trailerFields)
}

// SplitTrailer splits a record's body from its trailer.
func (l *Layout) SplitTrailer(body []byte) (rest []byte, t Trailer) {
	at := len(body) - l.trailerSize()
	if at < 0 || at == len(body) {
		return body, t
	}
	f := fields{rest: body[at:]}
	if l.Sample&SampleTID != 0 {
		t.Pid, t.Tid = f.i32(), f.i32()
	}
	if l.Sample&SampleTime != 0 {
		t.Time = f.u64()
	}
	return body[:at], t
}

// DefaultDepth is the default limit of a call chain.
const DefaultDepth = 127

// IsCut reports whether a chain has reached its limit, 0 for none: mostly there were more calls.
func IsCut(chain []uint64, deepest int) bool {
	if deepest == 0 || len(chain) < deepest {
		return false
	}
	calls := 0
	for _, address := range chain {
		if address < MarkLowest {
			calls++
		}
	}
	return calls >= deepest
}
