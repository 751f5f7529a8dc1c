package perf

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gprof/rawformat/perfevent"
)

// life is the processes, threads and mappings of a file. It is learned from the records, which are
// unordered, and settled.
type life struct {
	changes []change
	seen    map[int32]*span // by pid
	last    uint64          // last time of anything
	waits   bool            // there are switches, so a process that is not seen any more waits

	all    []*process
	byPid  map[int32][]*process // by birth
	kernel process              // the kernel's mappings
	files  []file
	known  map[file]int32
}

// file is one that was mapped.
type file struct{ name, build string }

// span is a range of perf's clock.
type span struct{ first, last uint64 }

func (s *span) add(time uint64) {
	if time != 0 {
		s.first, s.last = min(s.first, time), max(s.last, time)
	}
}

// change is a change that a record tells of.
type change struct {
	time     uint64
	kind     uint32 // of the record
	exec     bool
	pid, tid int32
	from     int32 // pid of the forking process
	mapping
	name string
}

// mapping is a part of a file in memory.
type mapping struct {
	time       uint64
	start, end uint64
	offset     uint64 // in the file
	file       int32  // -1: exec, all mappings are gone
}

// process is one run of a program, or the kernel.
type process struct {
	pid     int32
	born    uint64 // 0: before the recording
	span    span
	ended   bool
	parent  *process
	comm    string
	threads map[int32]string // names, by tid
	maps    []mapping        // by time
	index   *mappings        // of them if they are many
}

func newLife() *life {
	return &life{seen: map[int32]*span{}, byPid: map[int32][]*process{}, known: map[file]int32{}}
}

func (l *life) file(name, build string) int32 {
	f := file{name, build}
	id, ok := l.known[f]
	if !ok {
		id = int32(len(l.files))
		l.files = append(l.files, f)
		l.known[f] = id
	}
	return id
}

// see notes that a process was seen.
func (l *life) see(pid int32, time uint64) {
	s := l.seen[pid]
	if s == nil {
		s = &span{first: math.MaxUint64}
		l.seen[pid] = s
	}
	s.add(time)
	l.last = max(l.last, time)
}

// read takes a record that is no sample.
func (l *life) read(rec *record, a *attr) {
	body, t := a.SplitTrailer(rec.body)
	if rec.kind == perfevent.KindSwitch || rec.kind == perfevent.KindSwitchCPUWide {
		l.waits = true
		l.see(t.Pid, t.Time)
		return
	}
	ch, ok := change{time: t.Time, kind: rec.kind}, false
	switch rec.kind {
	case perfevent.KindMmap, perfevent.KindMmap2:
		ok = l.readMapping(rec, body, &ch)
	case perfevent.KindComm:
		var c perfevent.Comm
		c, ok = perfevent.ParseComm(rec.misc, body)
		ch.pid, ch.tid, ch.exec, ch.name = c.Pid, c.Tid, c.Exec, c.Name
	case perfevent.KindFork, perfevent.KindExit:
		var task perfevent.Task
		task, ok = perfevent.ParseTask(body)
		ch.pid, ch.tid, ch.from, ch.time = task.Pid, task.Tid, task.ParentPid, task.Time
	}
	if ok {
		l.changes = append(l.changes, ch)
	}
}

func (l *life) readMapping(rec *record, body []byte, ch *change) bool {
	m, ok := perfevent.ParseMapping(perfevent.Head{Kind: rec.kind, Misc: rec.misc}, body)
	if !ok {
		return false
	}
	if ch.pid, ch.tid = m.Pid, m.Tid; m.Kernel {
		ch.pid = -1
	}
	build := ""
	if m.Build != nil {
		build = buildText(m.Build)
	}
	ch.mapping = mapping{time: ch.time, start: m.Start, end: m.End, offset: m.Offset, file: l.file(m.Path, build)}
	return true
}

// settle makes processes of all changes. Those without samples are dropped, since perf lists all
// processes of a machine.
func (l *life) settle() {
	slices.SortStableFunc(l.changes, func(a, b change) int { return cmp.Compare(a.time, b.time) })
	for i := range l.changes {
		l.apply(&l.changes[i])
	}
	l.changes = nil
	for pid := range l.seen { // what nobody has told of
		if pid >= 0 && len(l.byPid[pid]) == 0 {
			l.addProcess(pid, 0, nil)
		}
	}
	for _, p := range append(l.all, &l.kernel) {
		if len(p.maps) > fewMappings {
			p.index = newMappings(p.maps)
		}
	}
	l.all = slices.DeleteFunc(l.all, func(p *process) bool { return l.seen[p.pid] == nil })
	slices.SortFunc(l.all, func(a, b *process) int { return cmp.Or(cmp.Compare(a.born, b.born), cmp.Compare(a.pid, b.pid)) })
	for _, p := range l.all {
		p.close(l.seen[p.pid], len(l.byPid[p.pid]) == 1)
		if l.waits && !p.ended && l.latest(p.pid) == p {
			p.span.add(l.last)
		}
	}
}

func (l *life) addProcess(pid int32, time uint64, parent *process) *process {
	p := &process{pid: pid, born: time, parent: parent, span: span{first: math.MaxUint64}, threads: map[int32]string{}}
	p.span.add(time)
	if parent != nil {
		p.comm = parent.comm
	}
	l.all = append(l.all, p)
	l.byPid[pid] = append(l.byPid[pid], p)
	return p
}

// latest is the current process of a pid.
func (l *life) latest(pid int32) *process {
	if all := l.byPid[pid]; len(all) > 0 {
		return all[len(all)-1]
	}
	return l.addProcess(pid, 0, nil)
}

func (l *life) apply(ch *change) {
	if ch.pid < 0 {
		if ch.kind == perfevent.KindMmap || ch.kind == perfevent.KindMmap2 {
			l.kernel.maps = append(l.kernel.maps, ch.mapping)
		}
		return
	}
	if ch.kind == perfevent.KindFork && ch.pid != ch.from {
		if all := l.byPid[ch.pid]; len(all) == 0 || all[len(all)-1].ended || ch.time > 0 && all[len(all)-1].born != ch.time {
			l.addProcess(ch.pid, ch.time, l.latest(ch.from))
		}
		return
	}
	p := l.latest(ch.pid)
	p.span.add(ch.time)
	switch ch.kind {
	case perfevent.KindMmap, perfevent.KindMmap2:
		p.maps = append(p.maps, ch.mapping)
	case perfevent.KindComm:
		p.name(ch)
	case perfevent.KindExit:
		p.ended = p.ended || ch.pid == ch.tid
	}
}

// name names a thread; the main thread's name is the process's.
func (p *process) name(ch *change) {
	if ch.exec {
		p.maps = append(p.maps, mapping{time: ch.time, file: -1})
		p.threads = map[int32]string{}
	}
	p.threads[ch.tid] = ch.name
	if ch.tid == p.pid || p.comm == "" {
		p.comm = ch.name
	}
}

// close extends the span by what was seen of the pid, if only this process had it.
func (p *process) close(seen *span, alone bool) {
	if seen != nil && alone && seen.first != math.MaxUint64 {
		p.span.add(seen.first)
		p.span.add(seen.last)
	}
	if p.span.first == math.MaxUint64 {
		p.span = span{}
	}
}

// at is the process of a pid at a time, nil for none.
func (l *life) at(pid int32, time uint64) *process {
	all := l.byPid[pid]
	i, _ := slices.BinarySearchFunc(all, time, func(p *process, t uint64) int {
		if p.born <= t {
			return -1
		}
		return 1
	})
	if i == 0 && len(all) > 0 {
		return all[0] // seen by another processor before its birth was told
	} else if i == 0 {
		return nil
	}
	return all[i-1]
}

// version is the number of mapping changes up to a time.
func (p *process) version(time uint64) int {
	i, _ := slices.BinarySearchFunc(p.maps, time, func(m mapping, t uint64) int {
		if m.time <= t {
			return -1
		}
		return 1
	})
	return i
}

// find returns the mapping of an address after so many changes. A forked process inherits its
// parent's.
func (p *process) find(version int, address uint64) *mapping {
	for {
		if i := p.last(version, address); i >= 0 && p.maps[i].file < 0 {
			return nil
		} else if i >= 0 {
			return &p.maps[i]
		}
		born := p.born
		if p = p.parent; p == nil {
			return nil
		}
		version = p.version(born)
	}
}

// last is the position of the mapping of an address, or of an exec since when there is none, among so many;
// -1: neither.
func (p *process) last(version int, address uint64) int {
	if p.index != nil {
		return p.index.last(version, address)
	}
	for i := version - 1; i >= 0; i-- {
		if m := &p.maps[i]; m.file < 0 || address >= m.start && address < m.end {
			return i
		}
	}
	return -1
}

// program is the file that a process runs: the first that it mapped.
func (l *life) program(p *process) string {
	name := ""
	for i := range p.maps {
		if f := p.maps[i].file; f < 0 {
			name = ""
		} else if name == "" && strings.HasPrefix(l.files[f].name, "/") && !strings.HasPrefix(l.files[f].name, "//") {
			name = l.files[f].name
		}
	}
	return name
}
