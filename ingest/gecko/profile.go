package gecko

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/digest"
	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// Profile is an open file. It holds the list of processes; positions are looked up again on
// reading.
type Profile struct {
	file  *file
	seed  uint64 // of the instances of the processes
	rows  []stream.Process
	folds []fold
}

// layout is where things are in a profile.
type layout struct {
	file      *file
	root      part // the object that has the threads
	processes []*process
	threadsIn int   // of all processes
	held      int64 // bytes of memory
	damage    error // ended the file too early
	tooMany   error // processes or threads
}

// process is one process of a profile.
type process struct {
	row     stream.Process
	part                // its object; of a processed profile, the profile
	about   part        // what our own sink says about it; missing in files of others
	number  int         // from 0
	pid     string      // as it stands in the file
	zero    stream.Time // origin of its times
	threads []*thread
}

// thread is one thread of a process.
type thread struct {
	part
	track stream.Track
}

// lists are the lists of objects that the index covers.
var lists = map[string]bool{"threads": true, "processes": true, "counters": true, "profilerOverhead": true, "sample_groups": true, "sampleGroups": true}

// Limits of what is kept in memory.
const (
	maxProcesses = 1 << 14
	maxThreads   = 1 << 16
)

// Open scans a file of size bytes, which must stay open. The error wraps [ErrForeign] if it is no
// profile. If it is damaged, the error tells where, and the Profile is what stands before that.
// After [ErrFolded] the Profile only serves to Unfold.
func Open(r io.ReaderAt, size int64) (*Profile, error) {
	first := digest.New(r)
	p := &Profile{file: &file{r: r, size: size, notes: newNotes()}}
	l, err := p.lay(p.file, first)
	if err != nil {
		return nil, err
	}
	if p.folds = l.folds(nil, l.root.v); len(p.folds) > 0 {
		return p, ErrFolded
	}
	p.seed = first.Sum(size)
	l.describeAll(p.seed)
	for _, x := range l.processes {
		p.rows = append(p.rows, x.row)
	}
	p.file.notes = nil // there is no ledger yet: they are taken again when it is read
	return p, cmp.Or(l.damage, l.tooMany)
}

// lay locates things in f through r.
func (p *Profile) lay(f *file, r io.ReaderAt) (*layout, error) {
	root, held, err := jsonfile.Index(r, f.size, func(key string) bool { return lists[key] })
	l := &layout{file: f, root: part{f, root, ""}, held: held, damage: err}
	if inner := root.Get("profile"); inner.Is(jsonfile.Object) && root.Get("threads") == nil {
		l.root.v = inner
	}
	return l, l.check()
}

// describeAll finds and describes the processes.
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

// room reports whether there is room for one more; what has no room is ignored.
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

// check returns an error if the file is no profile.
func (l *layout) check() error {
	root := l.root.v
	switch {
	case !root.Is(jsonfile.Object) || root.Get("threads") == nil && root.Get("meta") == nil:
		if strings.Contains(l.root.text("$schema"), "speedscope") {
			return fmt.Errorf("%w: it is a file of speedscope; record into another format", ErrForeign)
		}
		return cmp.Or(l.damage, fmt.Errorf("%w: it has neither meta nor threads", ErrForeign))
	case root.Get("threads") != nil && !root.Get("threads").Is(jsonfile.Array):
		return fmt.Errorf("%w: threads are no list", ErrForeign)
	case root.Get("threads") == nil && root.Get("meta", "version") == nil && root.Get("meta", "preprocessedProfileVersion") == nil:
		return cmp.Or(l.damage, fmt.Errorf("%w: it has no version", ErrForeign))
	}
	return nil
}

// processed reports whether this is a processed profile.
func (l *layout) processed() bool {
	if l.root.v.Get("meta", "preprocessedProfileVersion") != nil || l.root.v.Get("shared") != nil {
		return true
	}
	all := threadsOf(l.root.v)
	return len(all) > 0 && (all[0].Get("stringArray") != nil || all[0].Get("samples", "length") != nil)
}

func threadsOf(v *jsonfile.Value) []jsonfile.Value { return v.Get("threads").List() }

// nested adds a process of a Gecko profile and those nested in it; parent is the number of the
// outer one, from 1.
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

// byPid adds the processes of a processed profile, whose threads name them.
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

// Processes are the profile's, the outermost first.
func (p *Profile) Processes() []stream.Process { return p.rows }

// Lacks names what profiles don't tell.
func (p *Profile) Lacks() string {
	return "host, exit and arguments of the process; bounds of the modules; how long pages were open"
}

// number is the leading number of a text, such as a pid "1234" or "1234.1".
func number(text string) int64 {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, _ := strconv.ParseInt(text[:end], 10, 64)
	return n
}

// The newest known versions of the two formats.
const (
	newestGecko     = 36
	newestProcessed = 75
)

func (l *layout) versionKey() string {
	if l.processed() {
		return "preprocessedProfileVersion"
	}
	return "version"
}

// version is the format version, 0 if unknown.
func (l *layout) version() int64 { return l.root.object("meta").count(l.versionKey()) }

// noteVersion notes a format newer than known here, and what a profile of its version must have but
// lacks.
func (r *reader) noteVersion() {
	newest, what, categorized, described := int64(newestGecko), "Gecko profile format", int64(firstCategorized), int64(firstDescribed)
	if r.processed() {
		newest, what, categorized, described = newestProcessed, "processed profile format", firstCategorizedProcessed, firstDescribedProcessed
	}
	version, meta := r.version(), r.root.object("meta")
	if version > newest {
		r.t.Ledger.Add(stream.Line{Process: r.instance, Reason: stream.ReasonNewer, What: "versions", Count: 1,
			Where: fmt.Sprintf("%s %d: the newest that is known here is %d", what, version, newest)})
	}
	if r.root.required("meta"); meta.v == nil {
		return
	}
	meta.required(r.versionKey(), "startTime", "interval")
	if version >= categorized {
		meta.required("categories")
	}
	if version >= described {
		meta.required("markerSchema")
	}
	for table, first := range map[string]int64{"frameTable": firstFrameFlags, "funcTable": firstFuncFlags} {
		if of := r.root.object("shared").object(table); r.processed() && version >= first && of.v != nil {
			of.required("flags")
		}
	}
}

// The versions from which on a profile brings its categories and schemas.
const (
	firstCategorized          = 11
	firstCategorizedProcessed = 15
	firstDescribed            = 22
	firstDescribedProcessed   = 32
	// Those from which on flags say which columns of a row count.
	firstFrameFlags = 71
	firstFuncFlags  = 75
)
