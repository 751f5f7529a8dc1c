package perf

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"

	"gprof/rawformat/perfevent"
)

// Types of events.
const (
	typeHardware   = 0
	typeSoftware   = 1
	typeTracepoint = 2
)

// attr is an event that was asked for: what perf_event_open(2) was given.
type attr struct {
	perfevent.Layout
	kind   uint32
	config uint64
	name   string
	use    use

	deepest int // how many calls a chain may have
}

// use is what becomes of an event's samples.
type use uint8

const (
	asMeasurements use = iota // of the period
	asCycles                  // samples, and measurements of the period
	asClock                   // samples, whose period is CPU time
)

// attrSize is of how many bytes an attr is at least: its first version. Later ones are
// longer.
const attrSize = 64

func parseAttr(b []byte) attr {
	u64 := func(at int) uint64 {
		if at+8 > len(b) {
			return 0
		}
		return binary.LittleEndian.Uint64(b[at:])
	}
	a := attr{kind: uint32(u64(0)), config: u64(8), Layout: perfevent.Layout{Period: u64(16), Sample: u64(24), Read: u64(32), Flags: u64(40),
		Branches: u64(72), UserRegs: u64(80)}}
	a.name, a.deepest = a.defaultName(), perfevent.DefaultDepth
	if len(b) > offDepth+1 {
		a.deepest = cmp.Or(int(binary.LittleEndian.Uint16(b[offDepth:])), a.deepest)
	}
	return a
}

// offDepth is where a newer attr says how deep its chains may be.
const offDepth = 108

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
	case "cycles", "cpu-cycles", "ref-cycles", untoldEvent:
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
	case a.Flags&perfevent.FlagFreq != 0 && a.Period > 0:
		return int64(1e9 / float64(a.Period))
	case a.use == asClock:
		return int64(min(a.Period, 1e12))
	}
	return 0
}
