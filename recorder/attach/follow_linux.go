package attach

import (
	"gprof/rawformat/buildid"
	"gprof/rawformat/callframe"
	"gprof/rawformat/perfevent"
	"gprof/recorder/internal/modules"
)

// follower follows the calls in copies of stacks, by the tables of the programs. Copies are not
// kept: what is recorded are frames, as of stacks that the kernel followed.
type follower struct {
	walker  callframe.Walker
	process *process // whose stack is followed
	known   map[tableKey]table
	size    int64 // of all tables
	callers []uint64
}

// table says how the calls of a file's code are followed.
type table struct {
	asked bool
	given bool             // the file could be read
	calls *callframe.Table // nil: it has no table
}

// tableKey is a file.
type tableKey struct{ path, build string }

// maxTables bounds the memory of all tables.
const maxTables = 256 << 20

func newFollower() *follower {
	f := &follower{known: map[tableKey]table{}}
	f.walker.Find = f.find
	return f
}

// stack adds the frames of a sample to the path of its process. False: there is no copy that could
// be followed.
func (f *follower) stack(p *process, s *perfevent.Sample, misc uint16) bool {
	regs, ok := callframe.FromPerf(wantedRegisters(), s.Regs)
	if !ok || !s.Copied {
		return false
	}
	kernel, user := split(s.Chain, misc)
	f.callers = f.callers[:0]
	if len(user) > 0 {
		f.callers = user[1:]
	}
	if kernel != nil {
		p.chain(kernel, s, misc)
	}
	f.process = p
	frames, end := f.walker.Walk(regs, callframe.Stack{Base: regs.SP(), Bytes: s.Stack}, f.callers)
	for _, frame := range frames {
		at := frame.PC
		if !frame.Exact {
			at--
		}
		p.push(p.place(at, false))
	}
	switch {
	case end == callframe.Complete, end == callframe.Joined && !perfevent.IsCut(s.Chain, p.kernel.deepest):
	case end == callframe.Joined, end == callframe.CopyEnds:
		p.cut()
	default:
		p.push(unknownFrame)
	}
	return true
}

// split splits a call chain into the kernel's part and the addresses of the user's.
func split(chain []uint64, misc uint16) (kernel, user []uint64) {
	inKernel := perfevent.InKernel(misc)
	for i, address := range chain {
		if address < perfevent.MarkLowest {
			continue
		}
		if address == perfevent.MarkUser {
			return chain[:i], chain[i+1:]
		}
		inKernel = perfevent.MarksKernel(address)
	}
	if inKernel {
		return chain, nil
	}
	return nil, chain
}

// find tells where an address is.
func (f *follower) find(address uint64) callframe.Place {
	p := f.process
	at := p.place(address, false)
	switch {
	case at.module == madeModule:
		return callframe.Place{Known: true, Code: true}
	case at.module < 0:
		return callframe.Place{}
	}
	m := p.modules[at.module]
	t := f.of(p, at.module)
	place := callframe.Place{Known: t.given, Code: true}
	if t.calls != nil {
		if to, ok := t.calls.Address(at.offset + m.Offset); ok {
			place.Table, place.Address = t.calls, to
		}
	}
	return place
}

// of is the table of a process' module.
func (f *follower) of(p *process, number int) table {
	for len(p.tables) <= number {
		p.tables = append(p.tables, table{})
	}
	t := &p.tables[number]
	if !t.asked {
		*t = f.read(p.pid, p.modules[number])
	}
	return *t
}

// read reads the table of a module, each once.
func (f *follower) read(pid int32, m modules.Module) table {
	key := tableKey{m.Path, m.Build}
	t, known := f.known[key]
	if known {
		return t
	}
	t = table{asked: true}
	if file := programOf(pid, m); file != nil {
		t.given = true
		t.calls, _ = callframe.Read(file.File) // nil: it has none
		file.Close()
	}
	if t.calls != nil {
		if f.size+t.calls.Size() > maxTables {
			t.given, t.calls = false, nil
		} else {
			f.size += t.calls.Size()
		}
	}
	f.known[key] = t
	return t
}

// vdso is the path of the kernel's code in each process, which is the same in all.
const vdso = "[vdso]"

// programOf opens the file of a module, if it is the one that was mapped; nil: it isn't, or is gone.
func programOf(pid int32, m modules.Module) *program {
	if m.Path == vdso {
		own := modules.Find(func(m *modules.Module) bool { return m.Path == vdso })
		if f := own.Image(); f != nil {
			return &program{File: f}
		}
		return nil
	}
	if m.Build == "" {
		return nil
	}
	if f := openPath(pid, m.Path); f.isOf(m.Build) {
		return f
	}
	if f := openDeleted(pid, m); f.isOf(m.Build) {
		return f
	}
	return nil
}

// isOf reports whether a program is of a build, and closes it if not.
func (p *program) isOf(build string) bool {
	if p == nil {
		return false
	}
	if id, err := buildid.Of(p.File); err == nil && id == build {
		return true
	}
	p.Close()
	return false
}
