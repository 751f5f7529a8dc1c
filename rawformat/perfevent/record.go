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
	f := Fields{Rest: b}
	h = Head{Kind: f.U32(), Misc: f.U16(), Size: int(f.U16())}
	return h, !f.Short && h.Size >= HeadSize
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
	f := Fields{Rest: body}
	t = Task{Pid: f.I32(), ParentPid: f.I32(), Tid: f.I32(), ParentTid: f.I32(), Time: f.U64()}
	return t, !f.Short
}

// Comm is the new name of a thread.
type Comm struct {
	Pid, Tid int32
	Exec     bool // it runs another program now
	Name     string
}

// ParseComm parses a name, without the trailer.
func ParseComm(misc uint16, body []byte) (c Comm, ok bool) {
	f := Fields{Rest: body}
	c = Comm{Pid: f.I32(), Tid: f.I32(), Exec: misc&MiscExec != 0}
	c.Name = f.Text()
	return c, !f.Short
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
	f := Fields{Rest: body}
	m.Pid, m.Tid, m.Kernel = f.I32(), f.I32(), h.Misc&MiscMode == MiscKernel
	start, size := f.U64(), f.U64()
	m.Offset = f.U64()
	if h.Kind == KindMmap2 {
		if id := f.Take(24); id != nil && h.Misc&MiscMapBuildID != 0 {
			m.Build = id[4:][:min(int(id[0]), buildSize)]
		}
		f.Skip(1) // protection and flags
	}
	m.Path = f.Text()
	if f.Short || size > math.MaxUint64-start {
		return m, false
	}
	m.Start, m.End = start, start+size
	return m, true
}

// ParseLost parses the number of records lost before.
func ParseLost(h Head, body []byte) (lost uint64, ok bool) {
	f := Fields{Rest: body}
	if h.Kind == KindLost {
		f.Skip(1) // the event's id
	}
	lost = f.U64()
	return lost, !f.Short
}
