package chrometrace

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/digest"
	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// File is a trace on disk. It holds its processes and threads.
type File struct {
	r    io.ReaderAt
	size int64

	seed      uint64
	base      int64 // ns to be added to times, which makes them real
	real      bool  // times are real
	processes []*process
	byPid     map[string]*process // by pid as it stands in the file
	attrs     []stream.Attr       // of the file
	parts     map[string]int64    // offsets of other members of the file that are objects or lists
	err       error               // that ended the search for processes
}

// process is a pid.
type process struct {
	number  int
	pid     int    // 0 unknown
	name    string // "" unknown
	attrs   []stream.Attr
	seen    bool // there is an event
	first   int64
	last    int64
	main    bool // a thread is the main one
	threads []*thread
	byTid   map[string]*thread
}

// thread is a tid.
type thread struct {
	tid  int64 // 0 unknown
	name string
	main bool // it is called as its process
}

// Limits of what is kept in memory.
const (
	maxProcesses = 1 << 14
	maxThreads   = 1 << 16
	maxAttrs     = 64
	maxAttr      = 1 << 10 // bytes
)

// Open reads a file of size bytes, which must stay open, for its processes. The error wraps
// [ErrForeign], or is a [damage.Error]; if there is a File as well, it is what stands before the damage.
func Open(r io.ReaderAt, size int64) (*File, error) {
	first := digest.New(r)
	f := &File{r: r, size: size, byPid: map[string]*process{}, parts: map[string]int64{}}
	w := newWalk(first, size, f.part)
	var e event
	var unused odd                 // it is counted when events are read
	threads, others := 0, int64(0) // elements that are no events
	for raw := w.next(); raw != nil; raw = w.next() {
		if !e.parse(raw, &unused) {
			others++
		} else if f.err == nil {
			threads += f.meet(&e)
			f.limit(threads, w.off)
		}
	}
	f.seed = first.Sum(size)
	switch err := w.damaged(); {
	case w.lists == 0:
		return nil, cmp.Or(err, fmt.Errorf("%w: it has no traceEvents", ErrForeign))
	case len(f.processes) == 0 && err != nil:
		return nil, err
	case len(f.processes) == 0 && others > 0:
		return nil, &damage.Error{Off: w.off, Err: fmt.Errorf("%w: none of %d elements has a phase", ErrForeign, others)}
	case len(f.processes) == 0:
		f.process([]byte("0"))
		fallthrough
	default:
		f.date()
		return f, cmp.Or(err, f.err)
	}
}

// limit notes that there are too many processes or threads: what follows is not looked at.
func (f *File) limit(threads int, off int64) {
	if len(f.processes) > maxProcesses || threads > maxThreads {
		f.err = &damage.Error{Off: off, Err: fmt.Errorf("%w: more than %d processes, or %d threads", damage.ErrTooBig, maxProcesses, maxThreads)}
	}
}

// meet notes the process and the thread of an event. It returns how many threads that were new.
func (f *File) meet(e *event) (threads int) {
	p := f.process(e.pid)
	known := len(p.threads)
	t := p.thread(e.tid)
	if e.phase == 'M' {
		p.metadata(e, t)
	} else if e.timed {
		end := e.at + max(0, e.duration)
		if !p.seen {
			p.seen, p.first, p.last = true, e.at, end
		}
		p.first, p.last = min(p.first, e.at), max(p.last, end)
	}
	return len(p.threads) - known
}

// process is that of a pid.
func (f *File) process(pid []byte) *process {
	if p, ok := f.byPid[string(pid)]; ok {
		return p
	}
	p := &process{number: len(f.processes), byTid: map[string]*thread{}}
	if n, ok := jsonfile.Int(pid); ok && n > 0 && n <= 1<<32 {
		p.pid = int(n)
	} else {
		p.name = string(jsonfile.AppendText(nil, pid))
	}
	f.byPid[string(pid)] = p
	f.processes = append(f.processes, p)
	return p
}

// thread is that of a tid.
func (p *process) thread(tid []byte) *thread {
	if t, ok := p.byTid[string(tid)]; ok {
		return t
	}
	t := &thread{}
	if n, ok := jsonfile.Int(tid); ok {
		t.tid, t.name = n, "thread "+strconv.FormatInt(n, 10)
		t.main = p.pid > 0 && n == int64(p.pid) && !p.main
		p.main = p.main || t.main
	} else if t.name = string(jsonfile.AppendText(nil, tid)); t.name == "" {
		t.name = "thread"
	}
	p.byTid[string(tid)] = t
	p.threads = append(p.threads, t)
	return t
}

// metadata takes what an event says of its process or thread.
func (p *process) metadata(e *event, t *thread) {
	name := string(jsonfile.AppendText(nil, e.name))
	each(e.args, func(key string, value []byte) {
		text := scalar(value)
		switch {
		case name == "thread_name" && key == "name" && text != "":
			t.name = text
		case name == "process_name" && key == "name" && text != "":
			p.name = text
		case name == "thread_sort_index", name == "process_sort_index", name == "thread_name", name == "process_name":
		default:
			p.attrs = attribute(p.attrs, name, text)
		}
	})
}

// attribute adds one, unless there are too many, or it is empty.
func attribute(all []stream.Attr, key, text string) []stream.Attr {
	a := stream.Attr{Key: key, Value: text}
	if text == "" || len(text) > maxAttr || len(all) == maxAttrs {
		return all
	}
	for _, b := range all {
		if a == b {
			return all
		}
	}
	return append(all, a)
}

// each calls visit for the members of an object.
func each(raw []byte, visit func(key string, value []byte)) {
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	s := jsonfile.Bytes(raw, 0)
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		name := string(key)
		if value := s.Raw(); value != nil {
			visit(name, value)
		}
	}
}

// scalar is the text of a value that is neither object nor list; else "".
func scalar(value []byte) string {
	switch value[0] {
	case '{', '[', 'n':
		return ""
	case '"':
		return string(jsonfile.AppendText(nil, value))
	}
	return string(value)
}

// part takes another member of the file.
func (f *File) part(key string, s *jsonfile.Scanner) {
	switch kind := s.Kind(); {
	case kind == jsonfile.Object && (key == "metadata" || key == "otherData"):
		off := s.Off()
		for s.Object(); ; {
			name, ok := s.Key()
			if !ok {
				break
			}
			f.scalar(string(name), s)
		}
		f.keep(key, off)
	case kind == jsonfile.Object, kind == jsonfile.Array:
		f.keep(key, s.Off())
		s.Skip()
	default:
		f.scalar(key, s)
	}
}

// keep notes where a member is.
func (f *File) keep(key string, off int64) {
	if len(f.parts) < maxAttrs {
		f.parts[key] = off
	}
}

// scalar takes a member that is no object.
func (f *File) scalar(key string, s *jsonfile.Scanner) {
	if kind := s.Kind(); kind == jsonfile.Object || kind == jsonfile.Array || kind == jsonfile.None {
		s.Skip()
		return
	}
	raw := s.Raw()
	if raw == nil {
		return
	}
	unit := map[string]int{"baseTimeNanoseconds": 0, "beginningOfTime": 3}
	if digits, ok := unit[key]; ok {
		if n, ok := jsonfile.Fixed(raw, digits); ok && n > 0 && n < maxTime {
			f.base, f.real = n, true
		}
	}
	text := scalar(raw)
	if at, err := time.Parse(time.RFC3339Nano, text); key == "startTime" && err == nil && at.UnixNano() > year2001 && at.UnixNano() < maxTime {
		f.base, f.real = at.UnixNano(), true // as gprof writes it
	}
	f.attrs = attribute(f.attrs, key, text)
}

// year2001 is a time, in ns, that no clock tells that counts since a boot.
const year2001 = 1e18

// date finds out whether times are real by themselves.
func (f *File) date() {
	for _, p := range f.processes {
		if p.seen && p.first >= year2001 {
			f.real, f.base = true, 0
		}
	}
}

// Processes returns a process for each pid.
func (f *File) Processes() []stream.Process {
	all := make([]stream.Process, len(f.processes))
	for i, p := range f.processes {
		all[i] = stream.Process{
			Instance: max(1, f.seed+uint64(i)), Pid: p.pid, Name: cmp.Or(p.name, "process"), Attrs: p.attrs,
			Start: stream.Time(p.first + f.base), End: stream.Time(p.last + f.base),
			Clock: stream.Clock{Pieces: 1, Uncertainty: -1},
		}
		if i == 0 {
			all[i].Attrs = append(all[i].Attrs[:len(all[i].Attrs):len(all[i].Attrs)], f.attrs...)
		}
		if f.real {
			all[i].Clock.By = "the trace"
		}
	}
	f.place(all)
	return all
}

// place gives processes without an event the time of the others.
func (f *File) place(all []stream.Process) {
	start, end, any := stream.Time(0), stream.Time(0), false
	for i, p := range f.processes {
		if p.seen && (!any || all[i].Start < start) {
			start = all[i].Start
		}
		if p.seen {
			any, end = true, max(end, all[i].End)
		}
	}
	for i, p := range f.processes {
		if !p.seen && any {
			all[i].Start, all[i].End = start, end
		}
	}
}

// Lacks names what such a file does not tell.
func (*File) Lacks() string { return "host, version, and mostly real time" }

// Source returns the source of the processes that have an id in t. It is an [io.Closer].
func (f *File) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	return newSource(f, t, ids, stream.Time(f.base)+shift)
}
