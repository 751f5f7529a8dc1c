package perfevent

import (
	"math"
	"strings"
)

// Kinds of records.
const (
	KindMmap          = 1
	KindLost          = 2
	KindComm          = 3
	KindExit          = 4
	KindThrottle      = 5
	KindFork          = 7
	KindSample        = 9
	KindMmap2         = 10
	KindAux           = 11
	KindLostSamples   = 13
	KindSwitch        = 14
	KindSwitchCPUWide = 15
)

// Bits of a record's misc.
const (
	MiscMode        = 7 // mode of the CPU, one of the following five
	MiscKernel      = 1
	MiscUser        = 2
	MiscHypervisor  = 3
	MiscGuestKernel = 4
	MiscGuestUser   = 5

	MiscData       = 1 << 13 // mapping: it is not code
	MiscExec       = 1 << 13 // name: of a new program
	MiscSwitchOut  = 1 << 13 // switch: off the CPU
	MiscPreempted  = 1 << 14 // switch: preempted
	MiscMapBuildID = 1 << 14 // mapping: it has the build id
)

// InKernel reports whether the CPU was in a kernel.
func InKernel(misc uint16) bool {
	switch misc & MiscMode {
	case MiscKernel, MiscHypervisor, MiscGuestKernel:
		return true
	}
	return false
}

// HeadSize is the size of a record's head.
const HeadSize = 8

// Head is the head of a record.
type Head struct {
	Kind uint32
	Misc uint16
	Size int // of the record, with the head
}

// ParseHead parses the head of a record. It is not ok if it is incomplete, or its size is below a
// head's.
func ParseHead(b []byte) (h Head, ok bool) {
	f := fields{rest: b}
	h = Head{Kind: f.u32(), Misc: f.u16(), Size: int(f.u16())}
	return h, !f.short && h.Size >= HeadSize
}

// Task is a thread that begins (Fork) or ends (Exit). The parent is the thread that began it; a
// process begins where Pid and ParentPid differ.
type Task struct {
	Pid, ParentPid int32
	Tid, ParentTid int32
	Time           uint64
}

// ParseTask parses a fork or exit.
func ParseTask(body []byte) (t Task, ok bool) {
	f := fields{rest: body}
	t = Task{Pid: f.i32(), ParentPid: f.i32(), Tid: f.i32(), ParentTid: f.i32(), Time: f.u64()}
	return t, !f.short
}

// Comm is the new name of a thread.
type Comm struct {
	Pid, Tid int32
	Exec     bool // it runs another program now
	Name     string
}

// ParseComm parses a name, without the trailer.
func ParseComm(misc uint16, body []byte) (c Comm, ok bool) {
	f := fields{rest: body}
	c = Comm{Pid: f.i32(), Tid: f.i32(), Exec: misc&MiscExec != 0}
	c.Name = f.text()
	return c, !f.short
}

// IsMade reports whether a mapping of that name is not of a file but of code that a program made
// while it ran. The names are those of the kernel's records and of /proc/PID/maps.
func IsMade(path string) bool {
	switch {
	case path == "", strings.HasPrefix(path, "//anon"), strings.HasPrefix(path, "[anon"), path == "[heap]", path == "[stack]":
		return true
	}
	return strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(path, "/dev/zero") || strings.HasPrefix(path, "/SYSV")
}

// Mapping is a newly mapped part of a file.
type Mapping struct {
	Pid, Tid   int32
	Start, End uint64
	Offset     uint64 // in the file
	Build      []byte // GNU build id, nil unknown
	Path       string
	Kernel     bool // mapped by the kernel
}

// buildSize bounds a build id.
const buildSize = 20

// ParseMapping parses a mapping of code, without the trailer. It is not ok for data.
func ParseMapping(h Head, body []byte) (m Mapping, ok bool) {
	if h.Misc&MiscData != 0 {
		return m, false
	}
	f := fields{rest: body}
	m.Pid, m.Tid, m.Kernel = f.i32(), f.i32(), h.Misc&MiscMode == MiscKernel
	start, size := f.u64(), f.u64()
	m.Offset = f.u64()
	if h.Kind == KindMmap2 {
		if id := f.take(24); id != nil && h.Misc&MiscMapBuildID != 0 {
			m.Build = id[4:][:min(int(id[0]), buildSize)]
		}
		f.skip(1) // protection and flags
	}
	m.Path = f.text()
	if f.short || size > math.MaxUint64-start {
		return m, false
	}
	m.Start, m.End = start, start+size
	return m, true
}

// ParseLost parses the number of records lost before.
func ParseLost(h Head, body []byte) (lost uint64, ok bool) {
	f := fields{rest: body}
	if h.Kind == KindLost {
		f.skip(1) // the event's id
	}
	lost = f.u64()
	return lost, !f.short
}
