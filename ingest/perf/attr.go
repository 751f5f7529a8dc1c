package perf

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
)

// Bits of an attr's sample_type, in the order of the fields that they stand for,
// as far as they are read here.
const (
	sampleIP = 1 << iota
	sampleTID
	sampleTime
	sampleAddr
	sampleRead
	sampleChain
	sampleID
	sampleCPU
	samplePeriod
	sampleStream

	sampleIdentifier = 1 << 16
)

// sampleTrailer are those that every record ends with, where all have an id.
const sampleTrailer = sampleTID | sampleTime | sampleID | sampleStream | sampleCPU | sampleIdentifier

// Bits of an attr's flags.
const (
	attrFreq  = 1 << 10
	attrIDAll = 1 << 18
)

// Types of events.
const (
	typeHardware = 0
	typeSoftware = 1
)

// attr is an event that was asked for: what perf_event_open(2) was given.
type attr struct {
	kind   uint32
	config uint64
	period uint64 // or a frequency: see flags
	sample uint64 // sample_type
	read   uint64 // read_format
	flags  uint64
	name   string
	use    use
}

// use is what becomes of an event's samples.
type use uint8

const (
	asMeasurements use = iota // of the period
	asCycles                  // samples, and measurements of the period
	asClock                   // samples, whose period is CPU time
)

// attrSize is how much of an attr is read: its first version.
const attrSize = 64

func parseAttr(b []byte) attr {
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	a := attr{kind: uint32(u64(0)), config: u64(8), period: u64(16), sample: u64(24), read: u64(32), flags: u64(40)}
	a.name = a.defaultName()
	return a
}

// Names of events as perf has them, by config.
var (
	hardware = []string{"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"}
	software = []string{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches"}
)

func (a *attr) defaultName() string {
	switch {
	case a.kind == typeHardware && a.config < uint64(len(hardware)):
		return hardware[a.config]
	case a.kind == typeSoftware && a.config < uint64(len(software)):
		return software[a.config]
	}
	return fmt.Sprintf("event %d:%#x", a.kind, a.config)
}

// plain is the name without what perf appends to it: "cycles" of "cycles:Pu" and of
// "cpu_core/cycles/".
func plainEvent(name string) string {
	if pmu, event, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(pmu, "cpu") {
		name, _, _ = strings.Cut(event, "/")
	}
	if base, modifiers, ok := strings.Cut(name, ":"); ok && strings.Trim(modifiers, "ukhGHpPSDWeb") == "" {
		name = base
	}
	return name
}

// useOf says what may become of the samples of an event.
func useOf(name string) use {
	switch plainEvent(name) {
	case "cpu-clock", "task-clock":
		return asClock
	case "cycles", "cpu-cycles", "ref-cycles":
		return asCycles
	}
	return asMeasurements
}

// chooseUses decides what becomes of each event: nothing is sampled twice.
func chooseUses(attrs []attr) {
	best := asMeasurements
	for i := range attrs {
		best = max(best, useOf(attrs[i].name))
	}
	first := ""
	for i := range attrs {
		a := &attrs[i]
		if use := useOf(a.name); use == best && use != asMeasurements && (first == "" || first == plainEvent(a.name)) {
			a.use, first = use, plainEvent(a.name)
		}
	}
}

// leavesCPU says whether samples of the event tell where threads leave the CPU.
func leavesCPU(name string) bool {
	name = plainEvent(name)
	return name == "context-switches" || name == "cs" || name == "sched:sched_switch"
}

// interval is ns between samples of a clock or of so many in a second, 0 unknown.
func (a *attr) interval() int64 {
	switch {
	case a.flags&attrFreq != 0 && a.period > 0:
		return int64(1e9 / float64(a.period))
	case a.use == asClock:
		return int64(min(a.period, 1e12))
	}
	return 0
}

// sample is what is read of a sample.
type sample struct {
	ip       uint64
	pid, tid int32
	time     uint64
	period   uint64
	chain    []uint64 // innermost first, with marks between kernel and user; of the record
}

// parse reads a sample of the event. It is not ok if the record is too short.
func (a *attr) parse(body []byte, s *sample) (ok bool) {
	c := cursor{rest: body}
	has := func(bit uint64) bool { return a.sample&bit != 0 }
	field := func(bit uint64) uint64 {
		if has(bit) {
			return c.u64()
		}
		return 0
	}
	field(sampleIdentifier)
	s.ip = field(sampleIP)
	who := field(sampleTID)
	s.pid, s.tid = int32(who), int32(who>>32)
	s.time = field(sampleTime)
	field(sampleAddr)
	field(sampleID)
	field(sampleStream)
	field(sampleCPU)
	s.period = a.fixedPeriod()
	if has(samplePeriod) {
		s.period = c.u64()
	}
	if has(sampleRead) {
		a.skipRead(&c)
	}
	s.chain = s.chain[:0]
	if has(sampleChain) {
		n := c.u64()
		for raw := c.take(8 * min(n, 1<<32)); len(raw) > 0; raw = raw[8:] {
			s.chain = append(s.chain, binary.LittleEndian.Uint64(raw))
		}
	}
	return !c.short
}

// fixedPeriod is that of all samples, where they don't tell theirs.
func (a *attr) fixedPeriod() uint64 {
	if a.flags&attrFreq != 0 {
		return 1
	}
	return max(1, a.period)
}

// Bits of read_format.
const (
	readEnabled = 1 << iota
	readRunning
	readID
	readGroup
	readLost
)

// skipRead skips the values of counters.
func (a *attr) skipRead(c *cursor) {
	n := 1 + bits.OnesCount64(a.read&(readEnabled|readRunning))
	each := bits.OnesCount64(a.read & (readID | readLost))
	if a.read&readGroup == 0 {
		c.skip(n + each)
		return
	}
	values := c.u64()
	c.skip(n - 1)
	c.take(min(values, 1<<32) * 8 * uint64(1+each))
}

// trailer is what other records end with.
type trailer struct {
	pid, tid int32
	time     uint64
}

// trailerSize is how many bytes that takes, 0 if they have none.
func (a *attr) trailerSize() int {
	if a.flags&attrIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(a.sample&sampleTrailer)
}

// parseTrailer splits a record's body from what it ends with.
func (a *attr) parseTrailer(body []byte) (rest []byte, t trailer) {
	at := len(body) - a.trailerSize()
	if at < 0 || at == len(body) {
		return body, t
	}
	c := cursor{rest: body[at:]}
	if a.sample&sampleTID != 0 {
		t.pid, t.tid = c.i32(), c.i32()
	}
	if a.sample&sampleTime != 0 {
		t.time = c.u64()
	}
	return body[:at], t
}
