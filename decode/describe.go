package decode

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

// metaFields is the table of meta keys of a process row.
var metaFields = map[string]func(p *stream.Process, value string){
	rawformat.MetaService:  func(p *stream.Process, v string) { p.Service = v },
	rawformat.MetaVersion:  func(p *stream.Process, v string) { p.Version = v },
	rawformat.MetaRevision: func(p *stream.Process, v string) { p.Revision = v },
	rawformat.MetaPid:      func(p *stream.Process, v string) { p.Pid = number(v) },
	rawformat.MetaHost:     func(p *stream.Process, v string) { p.Host = v },
	rawformat.MetaExe:      func(p *stream.Process, v string) { p.Exe = v },
	rawformat.MetaArg:      func(p *stream.Process, v string) { p.Args = append(p.Args, v) },
	rawformat.MetaGo:       func(p *stream.Process, v string) { p.Go = v },
	rawformat.MetaGoos:     func(p *stream.Process, v string) { p.OS = v },
	rawformat.MetaGoarch:   func(p *stream.Process, v string) { p.Arch = v },
	rawformat.MetaCPUs:     func(p *stream.Process, v string) { p.CPUs = number(v) },
	rawformat.MetaCPU:      func(p *stream.Process, v string) { p.CPU = v },
	rawformat.MetaMemory:   func(p *stream.Process, v string) { p.MemoryLimit = int64(number(v)) },
	rawformat.MetaInterval: func(p *stream.Process, v string) { p.Interval = int64(number(v)) },
	rawformat.MetaModified: func(p *stream.Process, v string) { p.Modified = v == "true" },
	rawformat.MetaModule:   func(p *stream.Process, v string) { p.Module = v },
	rawformat.MetaSlowed:   func(p *stream.Process, v string) { p.SlowedBy = append(p.SlowedBy, v) },
	rawformat.MetaCPUName:  func(p *stream.Process, v string) { p.CPUName = v },
	rawformat.MetaCores:    func(p *stream.Process, v string) { p.Cores = number(v) },
	rawformat.MetaLimit:    func(p *stream.Process, v string) { p.Settings.Limit = int64(number(v)) },
	rawformat.MetaFeature:  func(p *stream.Process, v string) { p.Settings.Features = append(p.Settings.Features, v) },
	rawformat.MetaTracks:   func(p *stream.Process, v string) { p.Settings.Tracks = append(p.Settings.Tracks, v) },
}

func describe(p *stream.Process, key, value string) {
	if set := metaFields[key]; set != nil {
		set(p, value)
	} else if name, ok := strings.CutPrefix(key, rawformat.MetaAttr); ok {
		p.Attrs = append(p.Attrs, stream.Attr{Key: name, Value: value})
	} else if name, ok := strings.CutPrefix(key, rawformat.MetaSelfTest); ok {
		p.SelfTests = append(p.SelfTests, stream.Attr{Key: name, Value: value})
	}
}

// number is a decimal number, 0 if malformed or negative.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// programName is the name of last resort.
func programName(p *stream.Process) string {
	switch {
	case p.Exe != "":
		return path.Base(p.Exe)
	case p.Service != "":
		return p.Service
	}
	return "unnamed program"
}

// sampledSuffix follows the service of a process sampled from outside: it may have recorded itself,
// too.
const sampledSuffix = " (sampled)"

// IsSampled reports whether p was sampled from outside, rather than recorded itself.
func IsSampled(p *chunks.Process) bool { return p.Value(rawformat.MetaSampler) != "" }

// Machine identifies the process that p is a recording of: it is equal for all recordings of it,
// but also for a later process with the same pid. "" if unknown.
func Machine(p *chunks.Process) string {
	boot, space, pid := BootID(p), p.Value(rawformat.MetaNamespaces), cmp.Or(p.Value(rawformat.MetaInnerPid), p.Value(rawformat.MetaPid))
	if boot == "" || space == "" || pid == "" {
		return ""
	}
	return boot + " " + space + " " + pid
}

// Parent is the instance of the process that started p, 0 if it did not record.
func Parent(p *chunks.Process) uint64 {
	if parent := p.Value(rawformat.MetaParent); parent != "" { // an error takes memory for each of thousands
		if instance, err := strconv.ParseUint(parent, 16, 64); err == nil {
			return instance
		}
	}
	if p.Exit != nil {
		return p.Exit.Parent
	}
	return 0
}

// Clean reports whether p ended properly: its recorder was stopped, or it exited with status 0.
func Clean(p *chunks.Process) bool {
	e := p.Exit
	return e != nil && (e.Reason == rawformat.ExitStopped || e.Reason == rawformat.ExitNormal && e.Code == 0)
}

var madeWay = map[string]string{
	rawformat.MadeWayExpired: "it ended cleanly, and its parent held nothing from that time any more",
	rawformat.MadeWayOrphan:  "it ended cleanly, and its parent was gone",
}

// MadeWay explains why nothing is left of p, "" if its tomb does not say more than that.
func MadeWay(p *chunks.Process) string { return madeWay[p.Value(rawformat.MetaMadeWay)] }

// BootID identifies the boot of p's machine, "" if unknown. Processes of one boot share the
// monotonic clock.
func BootID(p *chunks.Process) string { return p.Value(rawformat.MetaBootID) }

// ClockOf is a process's own clock: the offset of its earliest anchor. It is not ok without any.
func ClockOf(p *chunks.Process) (c Clock, ok bool) {
	if a := Anchors(p); len(a) > 0 {
		return Fixed(a[0].Offset()), true
	}
	return c, false
}

// StartOf is the monotonic time at which recording began, if known.
func StartOf(p *chunks.Process) (monotonic uint64, ok bool) {
	if a := Anchors(p); len(a) > 0 {
		return a[0].Monotonic, true
	}
	return 0, false
}

// Describe makes a row of the process table. Times need the clock of the run.
func Describe(p *chunks.Process, clock Clock) stream.Process {
	row := stream.Process{Instance: p.Instance, Pid: int(p.Pid), RangeStart: p.Held}
	for _, m := range p.Meta {
		describe(&row, m.Key, m.Value)
	}
	row.Name = programName(&row)
	if row.Service != "" && IsSampled(p) {
		row.Service += sampledSuffix
	}
	if m, ok := StartOf(p); ok {
		row.Start = clock.At(m)
	}
	if p.Held > 1 {
		row.Earliest = earliest(p, clock)
	}
	var cut map[uint64]uint64 // where the last part begins of those of a chunk that a slice left out, by epoch
	if len(p.LeftOut) > 0 {
		cut = map[uint64]uint64{}
	}
	for _, im := range p.LeftOut {
		cut[im.Header.Epoch] = max(cut[im.Header.Epoch], im.Header.RangeStart)
	}
	for _, im := range p.Chunks {
		if im.Closed && im.Header.Close.Monotonic != 0 && im.Header.RangeStart >= cut[im.Header.Epoch] {
			row.End = max(row.End, clock.At(im.Header.Close.Monotonic))
		}
	}
	if e := p.Exit; e != nil {
		if at := ExitTime(p); at != 0 {
			row.End = max(row.End, clock.At(at))
		}
		row.Exit = stream.Exit{Known: true, Reason: exitReason(e.Reason), Code: e.Code, Text: e.Text}
	}
	return row
}

// earliest is when the oldest held chunk was begun, as Gecko has it.
func earliest(p *chunks.Process, clock Clock) stream.Time {
	var oldest *rawformat.Header
	for _, im := range p.Chunks {
		if h := &im.Header; h.RangeStart >= p.Held && h.Open.Monotonic != 0 && (oldest == nil || h.RangeStart < oldest.RangeStart) {
			oldest = h
		}
	}
	if oldest == nil {
		return 0
	}
	return clock.At(oldest.Open.Monotonic)
}

func exitReason(r rawformat.ExitReason) string {
	if int(r) < len(rawformat.ExitReasons) {
		return rawformat.ExitReasons[r]
	}
	return "unknown"
}
