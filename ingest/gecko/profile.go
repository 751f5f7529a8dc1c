package gecko

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// Profile is a file that was opened. Of what is in it, it holds which processes there
// are; where things are is looked up again when they are read.
type Profile struct {
	file  *file
	seed  uint64 // of the instances of its processes
	rows  []stream.Process
	folds []fold
}

// layout is where things are in a profile, not what they are.
type layout struct {
	file      *file
	root      part // the object that has the threads
	processes []*process
	threadsIn int   // of all processes
	held      int64 // bytes of memory
	damage    error // what ended the file too early
	tooMany   error // where there are too many processes, or threads
}

// process is one process of a profile.
type process struct {
	row     stream.Process
	part                // its object; of a processed profile, the profile
	about   part        // what a sink of ours says about it; not there in files of others
	number  int         // from 0
	pid     string      // as it stands in the file
	zero    stream.Time // from which its times count
	threads []*thread
}

// thread is one thread of a process.
type thread struct {
	part
	track stream.Track
}

// lists are the lists whose elements are objects that we look into.
var lists = map[string]bool{"threads": true, "processes": true, "counters": true, "profilerOverhead": true, "sample_groups": true, "sampleGroups": true}

// Bounds of what a file may have of what is kept of each.
const (
	maxProcesses = 1 << 14
	maxThreads   = 1 << 16
)

// Open looks through a file of size bytes, which must stay open. The error wraps
// [ErrForeign] if it is no profile. If it is one that is damaged, the error says
// where, and the Profile is what stands before that. If it is [ErrFolded], there is
// nothing in it yet.
func Open(r io.ReaderAt, size int64) (*Profile, error) {
	digest := newDigested(r)
	p := &Profile{file: &file{r: r, size: size, notes: newNotes()}}
	l, err := p.lay(p.file, digest)
	if err != nil {
		return nil, err
	}
	if p.folds = l.folds(nil, l.root.v); len(p.folds) > 0 {
		return p, ErrFolded
	}
	p.seed = binary.BigEndian.Uint64(digest.sum.Sum(nil))
	l.describeAll(p.seed)
	for _, x := range l.processes {
		p.rows = append(p.rows, x.row)
	}
	p.file.notes = nil // there is no ledger yet: they are taken again when it is read
	return p, cmp.Or(l.damage, l.tooMany)
}

// lay looks for where things are in f, through r.
func (p *Profile) lay(f *file, r io.ReaderAt) (*layout, error) {
	root, held, err := jsonfile.Index(r, f.size, func(key string) bool { return lists[key] })
	l := &layout{file: f, root: part{f, root, ""}, held: held, damage: err}
	if inner := root.Get("profile"); inner.Is(jsonfile.Object) && root.Get("threads") == nil {
		l.root.v = inner
	}
	return l, l.check()
}

// describeAll finds the processes, and what they are.
func (l *layout) describeAll(seed uint64) {
	if l.processed() {
		l.byPid()
	} else {
		l.nested(l.root, 0)
		l.file.notes.process = -1
	}
	for i, x := range l.processes {
		l.file.notes.process, l.file.zero = i, 0
		l.describe(x, seed+uint64(i))
	}
	l.file.notes.process = -1
}

// room reports whether there may be another one beside those that there are. Those
// for which there is none are as if they were not in the file.
func (l *layout) room(v *jsonfile.Value, are, most int) bool {
	if are >= most {
		l.tooMany = cmp.Or(l.tooMany, error(&damage.Error{Off: v.Off, Err: jsonfile.ErrMany}))
	}
	return are < most
}

// addProcess adds a process, nil if there are too many.
func (l *layout) addProcess(x process) *process {
	if !l.room(x.v, len(l.processes), maxProcesses) {
		return nil
	}
	x.number = len(l.processes)
	l.processes = append(l.processes, &x)
	return &x
}

// addThread adds a thread to a process.
func (l *layout) addThread(x *process, p part) {
	if x != nil && l.room(p.v, l.threadsIn, maxThreads) {
		x.threads = append(x.threads, &thread{part: p})
		l.threadsIn++
	}
}

// check returns an error if there is no profile in the file.
func (l *layout) check() error {
	root := l.root.v
	switch {
	case !root.Is(jsonfile.Object) || root.Get("threads") == nil && root.Get("meta") == nil:
		return cmp.Or(l.damage, fmt.Errorf("%w: it has neither meta nor threads", ErrForeign))
	case root.Get("threads") != nil && !root.Get("threads").Is(jsonfile.Array):
		return fmt.Errorf("%w: threads are no list", ErrForeign)
	case root.Get("threads") == nil && root.Get("meta", "version") == nil && root.Get("meta", "preprocessedProfileVersion") == nil:
		return cmp.Or(l.damage, fmt.Errorf("%w: it has no version", ErrForeign))
	}
	return nil
}

// processed reports whether the profile is a processed one.
func (l *layout) processed() bool {
	if l.root.v.Get("meta", "preprocessedProfileVersion") != nil || l.root.v.Get("shared") != nil {
		return true
	}
	all := threadsOf(l.root.v)
	return len(all) > 0 && (all[0].Get("stringArray") != nil || all[0].Get("samples", "length") != nil)
}

// threadsOf are the threads of an object.
func threadsOf(v *jsonfile.Value) []jsonfile.Value { return v.Get("threads").List() }

// nested adds a process of a Gecko profile, and those that lie in it. parent is
// the number of that which it lies in, from 1.
func (l *layout) nested(p part, parent stream.ProcessID) {
	process := l.addProcess(process{part: p, about: p.object("meta").object("gprof")})
	if process == nil {
		return
	}
	l.file.notes.process = process.number
	process.row.Parent = parent
	var inner []part // until Gecko 4 among the threads
	for _, t := range p.list("threads") {
		switch {
		case isProcess(t.v):
			inner = append(inner, part{t.f, t.v, p.of})
		case t.is(jsonfile.Object):
			l.addThread(process, t)
		}
	}
	if len(process.threads) > 0 {
		process.pid = process.threads[0].plain("pid")
	}
	id := stream.ProcessID(len(l.processes))
	for _, p := range append(inner, p.list("processes")...) {
		if p.is(jsonfile.Object) {
			l.nested(p, id)
		}
	}
}

// byPid adds the processes of a processed profile, whose threads say to which
// they belong.
func (l *layout) byPid() {
	known := map[string]*process{}
	of := func(pid string) *process {
		if known[pid] == nil {
			known[pid] = l.addProcess(process{part: l.root, pid: pid})
		}
		return known[pid]
	}
	for _, t := range l.root.list("threads") {
		if t.is(jsonfile.Object) {
			l.addThread(of(t.plain("pid")), t)
		}
	}
	for _, about := range l.root.object("gprof").list("processes") {
		pid := about.plain("outputPid")
		if known[pid] == nil {
			about.at("outputPid").note(stream.ReasonImpossible)
		}
		if x := of(pid); x != nil {
			x.about = about
		}
	}
	if len(l.processes) == 0 {
		of("")
	}
}

// Processes are those of the profile, the outermost first.
func (p *Profile) Processes() []stream.Process { return p.rows }

// Lacks says what profiles don't tell.
func (p *Profile) Lacks() string {
	return "host, exit and arguments of the process; bounds of the modules; how long pages were open"
}

// number is the first number in a text, such as a pid "1234" or "1234.1".
func number(text string) int64 {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, _ := strconv.ParseInt(text[:end], 10, 64)
	return n
}
