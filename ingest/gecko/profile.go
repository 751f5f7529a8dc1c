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
	root      *jsonfile.Value // the object that has the threads
	processes []*process
	threadsIn int   // of all processes
	held      int64 // bytes of memory
	damage    error // what ended the file too early
	tooMany   error // where there are too many processes, or threads
}

// process is one process of a profile.
type process struct {
	row     stream.Process
	value   *jsonfile.Value // its object; of a processed profile, the profile
	about   *jsonfile.Value // what a sink of ours says about it, nil in files of others
	pid     string          // as it stands in the file
	zero    stream.Time     // from which its times count
	threads []*thread
}

// thread is one thread of a process.
type thread struct {
	value *jsonfile.Value
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
	p := &Profile{file: &file{r, size}}
	l, err := p.lay(digest)
	if err != nil {
		return nil, err
	}
	if p.folds = l.folds(nil, l.root); len(p.folds) > 0 {
		return p, ErrFolded
	}
	p.seed = binary.BigEndian.Uint64(digest.sum.Sum(nil))
	l.describeAll(p.seed)
	for _, x := range l.processes {
		p.rows = append(p.rows, x.row)
	}
	return p, cmp.Or(l.damage, l.tooMany)
}

// lay looks for where things are, through r.
func (p *Profile) lay(r io.ReaderAt) (*layout, error) {
	root, held, err := jsonfile.Index(r, p.file.size, func(key string) bool { return lists[key] })
	l := &layout{file: p.file, root: root, held: held, damage: err}
	if inner := root.Get("profile"); inner.Is(jsonfile.Object) && root.Get("threads") == nil {
		l.root = inner
	}
	return l, l.check()
}

// describeAll finds the processes, and what they are.
func (l *layout) describeAll(seed uint64) {
	if l.processed() {
		l.byPid()
	} else {
		l.nested(l.root, 0)
	}
	for i, x := range l.processes {
		l.describe(x, seed+uint64(i))
	}
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
	if !l.room(x.value, len(l.processes), maxProcesses) {
		return nil
	}
	l.processes = append(l.processes, &x)
	return &x
}

// addThread adds a thread to a process.
func (l *layout) addThread(x *process, v *jsonfile.Value) {
	if x != nil && l.room(v, l.threadsIn, maxThreads) {
		x.threads = append(x.threads, &thread{value: v})
		l.threadsIn++
	}
}

// check returns an error if there is no profile in the file.
func (l *layout) check() error {
	switch {
	case !l.root.Is(jsonfile.Object) || l.root.Get("threads") == nil && l.root.Get("meta") == nil:
		return cmp.Or(l.damage, fmt.Errorf("%w: it has neither meta nor threads", ErrForeign))
	case l.root.Get("threads") != nil && !l.root.Get("threads").Is(jsonfile.Array):
		return fmt.Errorf("%w: threads are no list", ErrForeign)
	case l.root.Get("threads") == nil && l.root.Get("meta", "version") == nil && l.root.Get("meta", "preprocessedProfileVersion") == nil:
		return cmp.Or(l.damage, fmt.Errorf("%w: it has no version", ErrForeign))
	}
	return nil
}

// processed reports whether the profile is a processed one.
func (l *layout) processed() bool {
	if l.root.Get("meta", "preprocessedProfileVersion") != nil || l.root.Get("shared") != nil {
		return true
	}
	all := l.threads(l.root)
	return len(all) > 0 && (all[0].Get("stringArray") != nil || all[0].Get("samples", "length") != nil)
}

// threads are those of an object.
func (l *layout) threads(v *jsonfile.Value) []jsonfile.Value {
	return v.Get("threads").List()
}

// nested adds a process of a Gecko profile, and those that lie in it. parent is
// the number of that which it lies in, from 1.
func (l *layout) nested(v *jsonfile.Value, parent stream.ProcessID) {
	process := l.addProcess(process{value: v, about: v.Get("meta", "gprof")})
	if process == nil {
		return
	}
	process.row.Parent = parent
	all := l.threads(v)
	var inner []*jsonfile.Value // until Gecko 4 among the threads
	for i := range all {
		if isProcess(&all[i]) {
			inner = append(inner, &all[i])
		} else {
			l.addThread(process, &all[i])
		}
	}
	if len(process.threads) > 0 {
		process.pid = l.file.plain(process.threads[0].value.Get("pid"))
	}
	id := stream.ProcessID(len(l.processes))
	list := v.Get("processes").List()
	for i := range list {
		inner = append(inner, &list[i])
	}
	for _, v := range inner {
		if v.Kind == jsonfile.Object {
			l.nested(v, id)
		}
	}
}

// byPid adds the processes of a processed profile, whose threads say to which
// they belong.
func (l *layout) byPid() {
	known := map[string]*process{}
	of := func(pid string) *process {
		if known[pid] == nil {
			known[pid] = l.addProcess(process{value: l.root, pid: pid})
		}
		return known[pid]
	}
	all := l.threads(l.root)
	for i := range all {
		l.addThread(of(l.file.plain(all[i].Get("pid"))), &all[i])
	}
	about := l.root.Get("gprof", "processes").List()
	for i := range about {
		if x := of(l.file.plain(about[i].Get("outputPid"))); x != nil {
			x.about = &about[i]
		}
	}
	if len(l.processes) == 0 {
		of("")
	}
}

// plain is a string or a number as a text.
func (f *file) plain(v *jsonfile.Value) string {
	if v.Is(jsonfile.String) {
		return f.text(v)
	}
	if v == nil {
		return ""
	}
	return string(v.Raw)
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
