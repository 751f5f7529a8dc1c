package attach

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gprof/rawformat"
	"gprof/rawformat/perfevent"
	"gprof/recorder/internal/modules"
)

// process is one run of a program that is sampled.
type process struct {
	pid     int32
	parent  *process         // that is sampled, too; nil: none
	exe     string           // the file that it mapped first; "": none yet
	link    string           // what /proc calls its program, read when it began
	argv    []string         // nil: not read yet
	begun   rawformat.Anchor // when it was attached to; zero: it began later, and its recording begins with the first events
	threads map[int32]*thread
	modules []modules.Module // that it mapped; of two at one address the later counts
	kernel  *kernel
	builds  *builds
	follow  *follower // nil: stacks are not copied
	tables  []table   // of the modules, as far as they were asked for
	lists   *lists    // of the code that it has made; nil: there was none to name yet

	into    *recording // nil: there was nothing to record yet
	refused bool       // there can be none

	places map[uint64]frame // of addresses of code that were looked up
	path   []frame          // of the last stack
}

// thread is a thread of a process.
type thread struct {
	name       string
	track      uint32 // its track in a dictionary
	generation uint16 // of that dictionary

	// Of being off the processor.
	since     uint64 // 0: it runs
	preempted bool
	stack     []frame // where it leaves
}

// frame is a place in code: an offset in a module, or an address of none.
type frame struct {
	module int // number in the process, noModule, kernelModule, madeModule
	offset uint64
}

const (
	noModule     = -1
	kernelModule = -2
)

// unknownFrame stands for addresses where there is no code: a caller that was compiled
// without a frame pointer was mistaken for one that has it.
var unknownFrame = frame{noModule, math.MaxUint64}

// truncatedFrame stands for the callers for which the kernel's chain had no room.
var truncatedFrame = frame{noModule, rawformat.TruncatedPC}

// maxPlaces bounds how many addresses are remembered.
const maxPlaces = 1 << 16

func (p *process) thread(tid int32) *thread {
	t := p.threads[tid]
	if t == nil {
		t = &thread{}
		p.threads[tid] = t
	}
	return t
}

// name is the name of the process: its main thread's, else its program's.
func (p *process) name() string {
	if t := p.threads[p.pid]; t != nil && t.name != "" {
		return t.name
	}
	return p.base()
}

// base is the name of the program's file, or of the main thread where none is known.
func (p *process) base() string {
	if program := p.program(); program != "" {
		return filepath.Base(program)
	}
	return cmp.Or(p.thread(p.pid).name, "unnamed program")
}

// program is the file that the process runs, "" if it is unknown. Before the first mapping
// it is what /proc says, which may be the next program already.
func (p *process) program() string { return cmp.Or(p.exe, p.link) }

// look reads what /proc says of a process now: it may have ended before there is something
// to record.
func (p *process) look() {
	link, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.pid)) // "" if it has ended
	p.link = strings.TrimSuffix(link, modules.Deleted)
	p.argv = p.args()
}

// trackName is the name of a thread's track: many threads have the same name.
func (p *process) trackName(tid int32, t *thread) string {
	name := t.name
	if name == "" {
		name = p.name()
	}
	if tid == p.pid {
		return name
	}
	return fmt.Sprintf("%s %d", name, tid)
}

// rename gives a thread another name, and so another track.
func (p *process) rename(tid int32, name string) {
	t := p.thread(tid)
	t.name, t.generation = name, 0
}

// fork makes the child of a process.
func (p *process) fork(t perfevent.Task) *process {
	child := &process{pid: t.Pid, parent: p, exe: p.exe, threads: map[int32]*thread{}, modules: slices.Clip(p.modules), tables: slices.Clip(p.tables),
		kernel: p.kernel, builds: p.builds, follow: p.follow, places: map[uint64]frame{}}
	child.thread(t.Tid).name = p.thread(t.ParentTid).name
	return child
}

// exec makes the process that p becomes when it runs another program.
func (p *process) exec(name string) *process {
	next := &process{pid: p.pid, parent: p, threads: map[int32]*thread{}, kernel: p.kernel, builds: p.builds, follow: p.follow, places: map[uint64]frame{}}
	if p.into == nil {
		next.parent = p.parent // nothing is known of p
	}
	next.thread(p.pid).name = name
	next.look()
	return next
}

// isMapped adds a mapping.
func (p *process) isMapped(m modules.Module) {
	if i := p.find(m.Start); i != noModule && p.modules[i] == m {
		return // it was read from the list of mappings, too
	}
	if p.exe == "" && filepath.IsAbs(m.Path) {
		p.exe = m.Path // the kernel maps the program first
	}
	p.modules = append(p.modules, m)
	clear(p.places)
}

// find returns the number of the module at an address, noModule if there is none.
func (p *process) find(address uint64) int {
	for i, m := range slices.Backward(p.modules) {
		if m.Start <= address && address < m.End {
			return i
		}
	}
	return noModule
}

// stack returns the frames of a call chain, innermost first; valid until the next call.
func (p *process) stack(s *perfevent.Sample, misc uint16) []frame {
	p.path = p.path[:0]
	if p.follow != nil && p.follow.stack(p, s, misc) {
		return p.path
	}
	p.chain(s.Chain, s, misc)
	if perfevent.IsCut(s.Chain, p.kernel.deepest) {
		p.cut()
	}
	return p.path
}

// cut adds the frame that stands for callers that are missing, and counts that.
func (p *process) cut() {
	p.path = append(p.path, truncatedFrame)
	if p.into != nil {
		p.into.lost[rawformat.LostDeep]++
	}
}

// chain adds the frames of a part of a sample's call chain.
func (p *process) chain(chain []uint64, s *perfevent.Sample, misc uint16) {
	inKernel, exact := perfevent.InKernel(misc), true
	if len(s.Chain) == 0 && s.IP != 0 {
		p.push(p.place(s.IP, inKernel))
	}
	for _, address := range chain {
		if address >= perfevent.MarkLowest {
			inKernel, exact = perfevent.MarksKernel(address), true
			continue
		}
		if !exact {
			address-- // of the call
		}
		exact = false
		if address+1 > 1 {
			p.push(p.place(address, inKernel))
		}
	}
}

// push adds a frame; unknown ones in a row become one.
func (p *process) push(f frame) {
	if n := len(p.path); f == unknownFrame && n > 0 && p.path[n-1] == f {
		return
	}
	p.path = append(p.path, f)
}

// place is where an address lies.
func (p *process) place(address uint64, inKernel bool) frame {
	if inKernel {
		return p.kernel.place(address)
	}
	f, known := p.places[address]
	if known {
		return f
	}
	f = unknownFrame
	switch i := p.find(address); {
	case i == noModule:
	case perfevent.IsMade(p.modules[i].Path):
		f = frame{madeModule, address}
	default:
		f = frame{i, address - p.modules[i].Start}
	}
	if len(p.places) == maxPlaces {
		clear(p.places)
	}
	p.places[address] = f
	return f
}
