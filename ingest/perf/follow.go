package perf

import (
	"slices"

	"gprof/ingest/internal/naming"
	"gprof/rawformat/callframe"
	"gprof/rawformat/perfevent"
	"gprof/stream"
)

// follower follows the user code's stacks that perf copied (--call-graph dwarf), by the tables of the
// programs.
type follower struct {
	walker callframe.Walker
	code   *code
	follow naming.Follow
	files  []naming.CallFrames // by number
	asked  []bool              // for which of them

	process *process // of the stack that is followed
	version int      // of its mappings
	recent  map[addressKey]recentPlace
	callers []uint64 // by frame pointers

	end  callframe.End // of the last stack
	ends [callframe.TooLong + 1]int64
	odd  int64 // stacks of which the registers can't be used
}

// recentPlace is where an address is, for a version of the mappings.
type recentPlace struct {
	version int
	callframe.Place
}

func newFollower(c *code, follow naming.Follow) *follower {
	n := len(c.life.files)
	f := &follower{code: c, follow: follow, files: make([]naming.CallFrames, n), asked: make([]bool, n), recent: map[addressKey]recentPlace{}}
	f.walker.Find = f.find
	return f
}

// extend replaces the user code's part of a path, the innermost first, by all its calls. The kernel
// may have found some by frame pointers, too.
func (f *follower) extend(path []spot, p *process, version int, s *perfevent.Sample, a *attr) []spot {
	regs, ok := callframe.FromPerf(a.UserRegs, s.Regs)
	if !ok {
		f.odd++
		f.end = callframe.NoRule
		return path
	}
	user := slices.IndexFunc(path, func(s spot) bool { return !s.kernel })
	f.callers = f.callers[:0]
	if user < 0 {
		user = len(path)
	} else {
		for _, s := range path[user+1:] {
			f.callers = append(f.callers, s.address)
		}
	}
	f.process, f.version = p, version
	frames, end := f.walker.Walk(regs, callframe.Stack{Base: regs.SP(), Bytes: s.Stack}, f.callers)
	f.end = end
	f.ends[end]++
	path = path[:user]
	for _, frame := range frames {
		path = append(path, spot{frame.PC, false, frame.Exact})
	}
	return path
}

// find tells where an address is.
func (f *follower) find(address uint64) callframe.Place {
	key := addressKey{f.process, spot{address: address}}
	p, known := f.recent[key]
	if !known || p.version != f.version {
		if len(f.recent) == maxCached {
			clear(f.recent)
		}
		p = recentPlace{f.version, f.place(address)}
		f.recent[key] = p
	}
	return p.Place
}

func (f *follower) place(address uint64) callframe.Place {
	m := f.process.find(f.version, address)
	if m == nil {
		return callframe.Place{}
	}
	if perfevent.IsMade(f.code.life.files[m.file].name) {
		return callframe.Place{Known: true, Code: true}
	}
	c := f.of(m.file)
	p := callframe.Place{Known: c.Given, Code: true}
	if c.Table != nil {
		if at, ok := c.Table.Address(address - m.start + m.offset); ok {
			p.Table, p.Address = c.Table, at
		}
	}
	return p
}

// of is how calls of a file's code are followed.
func (f *follower) of(file int32) naming.CallFrames {
	if !f.asked[file] {
		f.asked[file] = true
		c := f.code
		c.tables.Lock()
		build := c.tables.Modules.At(c.module(file)).Build
		c.tables.Unlock()
		if build != "" {
			f.files[file] = f.follow(build)
		}
	}
	return f.files[file]
}

// forget frees the caches when all is read.
func (f *follower) forget() { f.walker, f.recent, f.files = callframe.Walker{}, nil, nil }

// tell writes to the ledger which stacks are not whole, and why.
func (f *follower) tell(note func(stream.Line)) {
	if f == nil {
		return
	}
	for _, l := range []stream.Line{
		{Reason: stream.ReasonDeep, Where: "deeper than the memory that perf copied (--call-graph dwarf,SIZE)", Count: f.ends[callframe.CopyEnds]},
		{Reason: stream.ReasonUndefined, Where: "not followed into code whose file is not given (--symbols)", Count: f.ends[callframe.NoFile]},
		{Reason: stream.ReasonUndefined, Where: "not followed through code that has neither .eh_frame nor frame pointers", Count: f.ends[callframe.NoRule] + f.ends[callframe.NoCode]},
		{Reason: stream.ReasonMalformed, Where: "with tables that no compiler writes", Count: f.ends[callframe.TooLong]},
		{Reason: stream.ReasonUnsupported, Where: "of a processor or 32-bit program whose calls are not followed", Count: f.odd},
	} {
		l.What = "stacks"
		note(l)
	}
}
