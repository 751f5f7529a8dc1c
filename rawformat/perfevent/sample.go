package perfevent

import (
	"encoding/binary"
	"math/bits"
)

// Bits of an attr's sample_type, in the order of the fields that they stand for,
// as far as they are read here.
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

	SampleIdentifier = 1 << 16
)

// trailerFields are those that every record ends with, where all have an id.
const trailerFields = SampleTID | SampleTime | SampleID | SampleStream | SampleCPU | SampleIdentifier

// Bits of an attr's flags that change what records hold.
const (
	FlagFreq  = 1 << 10 // the period is that of a frequency
	FlagIDAll = 1 << 18 // records that are no samples have a trailer
)

// Bits of an attr's read_format.
const (
	readEnabled = 1 << iota
	readRunning
	readID
	readGroup
	readLost
)

// Marks in a call chain say whose the addresses behind them are. What is not below
// MarkLowest is a mark.
const (
	MarkHypervisor  = -32 & (1<<64 - 1)
	MarkKernel      = -128 & (1<<64 - 1)
	MarkUser        = -512 & (1<<64 - 1)
	MarkGuest       = -2048 & (1<<64 - 1)
	MarkGuestKernel = -2176 & (1<<64 - 1)
	MarkGuestUser   = -2560 & (1<<64 - 1)
	MarkLowest      = -4095 & (1<<64 - 1)
)

// MarksKernel reports whether a mark says that the addresses behind it are a kernel's.
func MarksKernel(mark uint64) bool {
	return mark == MarkKernel || mark == MarkHypervisor || mark == MarkGuestKernel
}

// Layout is what an event was opened with, as far as it says what records hold.
type Layout struct {
	Sample uint64 // sample_type
	Read   uint64 // read_format
	Flags  uint64
	Period uint64 // or a frequency, see FlagFreq
}

// Sample is what is read of a sample.
type Sample struct {
	IP       uint64
	Pid, Tid int32
	Time     uint64
	Period   uint64
	Chain    []uint64 // innermost first, with marks; of the caller, who may use it again
}

// ParseSample reads the body of a sample. It is not ok if that is too short.
func (l *Layout) ParseSample(body []byte, s *Sample) (ok bool) {
	f := Fields{Rest: body}
	has := func(bit uint64) bool { return l.Sample&bit != 0 }
	field := func(bit uint64) uint64 {
		if has(bit) {
			return f.U64()
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
		s.Period = f.U64()
	}
	if has(SampleRead) {
		l.skipRead(&f)
	}
	s.Chain = s.Chain[:0]
	if has(SampleChain) {
		n := f.U64()
		for raw := f.Take(8 * min(n, 1<<32)); len(raw) > 0; raw = raw[8:] {
			s.Chain = append(s.Chain, binary.LittleEndian.Uint64(raw))
		}
	}
	return !f.Short
}

// fixedPeriod is that of all samples, where they don't tell theirs.
func (l *Layout) fixedPeriod() uint64 {
	if l.Flags&FlagFreq != 0 {
		return 1
	}
	return max(1, l.Period)
}

// skipRead skips the values of counters.
func (l *Layout) skipRead(f *Fields) {
	n := 1 + bits.OnesCount64(l.Read&(readEnabled|readRunning))
	each := bits.OnesCount64(l.Read & (readID | readLost))
	if l.Read&readGroup == 0 {
		f.Skip(n + each)
		return
	}
	values := f.U64()
	f.Skip(n - 1)
	f.Take(min(values, 1<<32) * 8 * uint64(1+each))
}

// Trailer is what records that are no samples end with.
type Trailer struct {
	Pid, Tid int32
	Time     uint64
}

// TrailerSize is how many bytes that takes, 0 if they have none.
func (l *Layout) TrailerSize() int {
	if l.Flags&FlagIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(l.Sample&trailerFields)
}

// SplitTrailer splits a record's body from what it ends with.
func (l *Layout) SplitTrailer(body []byte) (rest []byte, t Trailer) {
	at := len(body) - l.TrailerSize()
	if at < 0 || at == len(body) {
		return body, t
	}
	f := Fields{Rest: body[at:]}
	if l.Sample&SampleTID != 0 {
		t.Pid, t.Tid = f.I32(), f.I32()
	}
	if l.Sample&SampleTime != 0 {
		t.Time = f.U64()
	}
	return body[:at], t
}
