package gecko

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// Profile is a file that was opened. It holds where things are in it, not what
// they are.
type Profile struct {
	file      *file
	root      *jsonfile.Value // the object that has the threads
	processes []*process
	rows      []stream.Process // of processes
	damage    error            // what ended the file too early
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
	id    int64 // of the system, 0 unknown
}

// lists are the lists whose elements are objects that we look into.
var lists = map[string]bool{"threads": true, "processes": true, "counters": true, "profilerOverhead": true, "sample_groups": true, "sampleGroups": true}

// Open looks through a file of size bytes, which must stay open. The error wraps
// [ErrForeign] if it is no profile. If it is one that is damaged, the error says
// where, and the Profile is what stands before that. If it is [ErrFolded], there is
// nothing in it yet.
func Open(r io.ReaderAt, size int64) (*Profile, error) {
	digest := newDigested(r)
	root, err := jsonfile.Index(digest, size, func(key string) bool { return lists[key] })
	p := &Profile{file: &file{r, size}, root: root, damage: err}
	if inner := root.Get("profile"); inner.Is(jsonfile.Object) && root.Get("threads") == nil {
		p.root = inner
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if len(p.folds(nil, p.root)) > 0 {
		return p, ErrFolded
	}
	seed := binary.BigEndian.Uint64(digest.sum.Sum(nil))
	if p.processed() {
		p.byPid()
	} else {
		p.nested(p.root, 0)
	}
	for i, process := range p.processes {
		p.describe(process, seed+uint64(i))
		p.rows = append(p.rows, process.row)
	}
	return p, err
}

// check returns an error if there is no profile in the file.
func (p *Profile) check() error {
	switch {
	case !p.root.Is(jsonfile.Object) || p.root.Get("threads") == nil && p.root.Get("meta") == nil:
		return cmp.Or(p.damage, fmt.Errorf("%w: it has neither meta nor threads", ErrForeign))
	case p.root.Get("threads") != nil && !p.root.Get("threads").Is(jsonfile.Array):
		return fmt.Errorf("%w: threads are no list", ErrForeign)
	case p.root.Get("threads") == nil && p.root.Get("meta", "version") == nil && p.root.Get("meta", "preprocessedProfileVersion") == nil:
		return cmp.Or(p.damage, fmt.Errorf("%w: it has no version", ErrForeign))
	}
	return nil
}

// processed reports whether the profile is a processed one.
func (p *Profile) processed() bool {
	if p.root.Get("meta", "preprocessedProfileVersion") != nil || p.root.Get("shared") != nil {
		return true
	}
	all := p.threads(p.root)
	return len(all) > 0 && (all[0].Get("stringArray") != nil || all[0].Get("samples", "length") != nil)
}

// threads are those of an object.
func (p *Profile) threads(v *jsonfile.Value) []jsonfile.Value {
	if t := v.Get("threads"); t != nil {
		return t.List
	}
	return nil
}

// nested adds a process of a Gecko profile, and those that lie in it. parent is
// the number of that which it lies in, from 1.
func (p *Profile) nested(v *jsonfile.Value, parent stream.ProcessID) {
	process := &process{value: v, about: v.Get("meta", "gprof")}
	process.row.Parent = parent
	p.processes = append(p.processes, process)
	all := p.threads(v)
	var inner []*jsonfile.Value // until Gecko 4 among the threads
	for i := range all {
		if isProcess(&all[i]) {
			inner = append(inner, &all[i])
		} else {
			process.threads = append(process.threads, &thread{value: &all[i]})
		}
	}
	if len(process.threads) > 0 {
		process.pid = p.file.plain(process.threads[0].value.Get("pid"))
	}
	id := stream.ProcessID(len(p.processes))
	if list := v.Get("processes"); list != nil {
		for i := range list.List {
			inner = append(inner, &list.List[i])
		}
	}
	for _, v := range inner {
		if v.Kind == jsonfile.Object {
			p.nested(v, id)
		}
	}
}

// byPid adds the processes of a processed profile, whose threads say to which
// they belong.
func (p *Profile) byPid() {
	known := map[string]*process{}
	of := func(pid string) *process {
		if known[pid] == nil {
			known[pid] = &process{value: p.root, pid: pid}
			p.processes = append(p.processes, known[pid])
		}
		return known[pid]
	}
	all := p.threads(p.root)
	for i := range all {
		process := of(p.file.plain(all[i].Get("pid")))
		process.threads = append(process.threads, &thread{value: &all[i]})
	}
	if about := p.root.Get("gprof", "processes"); about != nil {
		for i := range about.List {
			of(p.file.plain(about.List[i].Get("outputPid"))).about = &about.List[i]
		}
	}
	if len(p.processes) == 0 {
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
