package otlp

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/naming"
	"gprof/ingest/internal/values"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/profileproto"
	"gprof/stream"
	"gprof/stream/wording"
)

// File is an open file. It holds no file open, and little memory.
type File struct {
	open      func() (io.ReadCloser, error)
	json      bool
	parts     []part
	processes []process
	newer     int64 // fields of a later version
	originals int64 // profiles with the data that they were made of
	resolve   naming.Resolve
}

// part is a message: the file itself, or one of many in it, as the collector writes one for each request that
// it gets: as a line of JSON, or with its length before it. Its tables are its own.
type part struct {
	span
	damaged bool // behind that
	units   []unit
}

// unit is the profiles of a process in a part.
type unit struct {
	process int // its place in the file's
	groups  []group
}

// process is a resource of the file. Those of several parts that say the same are one.
type process struct {
	row   stream.Process
	lines []stream.Line // that its comments are
	lost  int64         // undefined attributes

	names  []string // of the types of its values
	groups int
	timed  bool
}

// Open reads a file; open opens it, decompressed, and is called again when the samples are read. The
// error wraps that of reading, [ErrProfile], or is a [damage.Error]. If there is a File as well, it is
// readable up to the error.
func Open(open func() (io.ReadCloser, error)) (*File, error) {
	f := &File{open: open}
	in, err := open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	head := bufio.NewReaderSize(in, 64)
	o := opening{File: f, known: map[string]int{}}
	switch start, _ := head.Peek(64); {
	case isJSON(start):
		f.json = true
		err = o.texts(head)
	case isPrefixed(start):
		err = o.prefixed(head)
	default:
		s, broken := scan(head)
		var size int64
		if s != nil {
			size = s.size
		}
		err = o.add(s, broken, span{0, size})
	}
	o.finish()
	if len(f.processes) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("%w: there is no resource in it", ErrProfile))
	}
	return f, err
}

// opening is a file that is being opened.
type opening struct {
	*File
	known map[string]int // processes, by what their resources say
}

// texts adds a file that is JSON.
func (o *opening) texts(in io.Reader) error {
	all := newDocuments(in, 0, math.MaxInt64)
	for {
		m := all.next()
		if m == nil {
			return nil
		}
		s, err := scanText(m)
		if err = o.whole(s, err, span{m.from, m.from + m.Offset()}); err != nil {
			return err
		}
	}
}

// prefixed adds a file of messages with their lengths before them.
func (o *opening) prefixed(in io.Reader) error {
	for at := int64(0); ; {
		var prefix [prefixBytes]byte
		switch _, err := io.ReadFull(in, prefix[:]); {
		case err == io.EOF:
			return nil
		case err != nil:
			return &damage.Error{Off: at, Err: torn(err)}
		}
		at += prefixBytes
		n := int64(binary.BigEndian.Uint32(prefix[:]))
		rest := &io.LimitedReader{R: in, N: n}
		s, err := scan(rest)
		if err == nil && rest.N > 0 {
			err = &damage.Error{Off: n - rest.N, Err: damage.ErrTorn}
		}
		if bad, ok := errors.AsType[*damage.Error](err); ok {
			bad.Off += at // it is the message's
		}
		if err = o.whole(s, err, span{at, at + n}); err != nil {
			return err
		}
		at += n
	}
}

// torn is an error of reading, of which the end of the file is damage.
func torn(err error) error {
	if err == io.ErrUnexpectedEOF {
		return damage.ErrTorn
	}
	return err
}

// whole is add for one of many messages, if it is whole: else its tables, which come last, are not.
func (o *opening) whole(s *survey, err error, at span) error {
	if err != nil {
		return err
	}
	return o.add(s, nil, at)
}

// add adds what was found of a message that lies at a place, and returns the error at which it ended, or one of its own.
func (o *opening) add(s *survey, err error, at span) error {
	if s == nil {
		return err
	}
	o.newer, o.originals = o.newer+s.newer, o.originals+s.originals
	p := part{span: at, damaged: err != nil}
	if p.damaged {
		p.to = p.from + s.size
	}
	times := map[string]int{} // that a resource says the same in this part
	for i, r := range s.resources {
		key := fmt.Sprintf("%d %s", times[string(r.message)], r.message)
		times[string(r.message)]++
		n, ok := o.known[key]
		if !ok {
			if len(o.processes) == maxResources {
				return &damage.Error{Off: at.from, Err: fmt.Errorf("%w: more than %d resources", damage.ErrTooBig, maxResources)}
			}
			n = len(o.processes)
			o.known[key] = n
			o.processes = append(o.processes, s.process(r, i))
		}
		s.add(&o.processes[n], r, len(s.resources) == 1)
		p.units = append(p.units, unit{n, r.groups})
	}
	if len(p.units) > 0 {
		o.parts = append(o.parts, p)
	}
	if len(o.parts) > maxProfiles {
		return &damage.Error{Off: at.from, Err: fmt.Errorf("%w: more than %d messages", damage.ErrTooBig, maxProfiles)}
	}
	return err
}

func (o *opening) finish() {
	for i := range o.processes {
		o.processes[i].finish()
	}
}

// span is a range of the file, of what is intact.
type span struct{ from, to int64 }

// maxHeld is the size in bytes up to which a file, or a message of many in it, is read into memory when its samples are read.
const maxHeld = 8 << 20

// hold returns the intact part of the file if it is small, else nil.
func (f *File) hold() ([]byte, error) {
	size := f.parts[len(f.parts)-1].to
	if size > maxHeld {
		return nil, nil
	}
	in, err := f.open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, size))
}

// NameBy sets what names functions that the file doesn't.
func (f *File) NameBy(resolve naming.Resolve) { f.resolve = resolve }

// Lacks names what such a file does not tell.
func (*File) Lacks() string {
	return "markers and counters; whether the program still ran, and how it ended"
}

// Processes returns the file's resources.
func (f *File) Processes() (all []stream.Process) {
	for i := range f.processes {
		all = append(all, f.processes[i].row)
	}
	return all
}

// process is a resource as a process, by what it says itself.
func (s *survey) process(r *resource, i int) process {
	p := process{row: stream.Process{Instance: max(1, s.instance+uint64(i)), Clock: stream.Clock{Pieces: 1, Uncertainty: -1}}}
	for _, a := range s.dictionary.pairs(r.message, otlpproto.ResourceAttribute) {
		p.resourceAttribute(a)
	}
	return p
}

// add adds to a process what its profiles say; alone is whether all mappings are of this process.
func (s *survey) add(p *process, r *resource, alone bool) {
	for _, scope := range r.scopes {
		for _, a := range s.dictionary.pairs(scope, scopeAttribute) {
			p.profileAttribute(a)
		}
	}
	for _, at := range r.profiles {
		known, undefined := s.dictionary.attributes(at.attributes)
		p.lost += undefined
		for _, a := range known {
			p.profileAttribute(a)
		}
	}
	p.span(r)
	p.name(&s.dictionary, alone)
	p.describe(r)
}

// scopeAttribute is the field of a scope's attributes.
const scopeAttribute = 3

// unknownService begins the service of a program that has none, before the program's name.
const unknownService = "unknown_service"

// resourceAttribute takes what a resource says of its process, by the semantic conventions.
func (p *process) resourceAttribute(a attribute) {
	row := &p.row
	switch a.key {
	case "service.name":
		if rest, ok := strings.CutPrefix(a.text, unknownService); !ok {
			row.Service = a.text
		} else if row.Name == "" {
			row.Name = strings.TrimPrefix(rest, ":")
		}
	case "service.version":
		row.Version = a.text
	case "vcs.ref.head.revision":
		row.Revision = a.text
	case "host.name":
		row.Host = a.text
	case "host.arch":
		row.Arch = a.text
	case "host.cpu.model.name":
		row.CPUName = a.text
	case "os.type":
		row.OS = a.text
	case "process.pid":
		if a.isNumber && a.number > 0 && a.number <= math.MaxInt32 {
			row.Pid = int(a.number)
		}
	case "process.executable.name":
		row.Name = a.text
	case "process.executable.path":
		row.Exe = a.text
	case "process.command_args":
		row.Args = a.list
	case "process.runtime.version":
		row.Go = a.text
	case "process.runtime.name":
		if a.text != "go" {
			p.attr(a.key, a.text)
		}
	default:
		p.attr(a.key, a.text)
	}
}

// attr adds an attribute that has no place of its own; the first value of a key stays.
func (p *process) attr(key, text string) {
	for _, known := range p.row.Attrs {
		if known.Key == key {
			return
		}
	}
	if key != "" && text != "" {
		p.row.Attrs = append(p.row.Attrs, stream.Attr{Key: key, Value: text})
	}
}

// profileAttribute takes what a profile or a scope says, in terms of pprof's format if it comes from there.
func (p *process) profileAttribute(a attribute) {
	switch a.key {
	case "pprof.profile.comment":
		p.comments(a)
	case "pprof.scope.default_sample_type", "pprof.profile.default_sample_type":
		p.row.Profile.Default = a.text
		p.attr("default_sample_type", a.text)
	default:
		p.attr(strings.TrimPrefix(strings.TrimPrefix(a.key, "pprof.profile."), "pprof.scope."), a.text)
	}
}

// comments takes the comments of a profile. Those that gprof wrote of its ledger are lines of it again.
func (p *process) comments(a attribute) {
	all := a.list
	if len(all) == 0 {
		all = []string{a.text}
	}
	var rest []string
	for _, comment := range all {
		var unknown int64
		if line, ok := wording.ParseRemark(strings.TrimPrefix(comment, "# ")); ok {
			if !slices.Contains(p.lines, line) { // another part of the same says it again
				p.lines = append(p.lines, line)
			}
		} else if _, err := fmt.Sscanf(comment, profileproto.CommentUnknownCPU, &unknown); err == nil && unknown > 0 {
			p.row.Profile.UnknownCPU = unknown
		} else {
			rest = append(rest, comment)
		}
	}
	p.attr("comment", strings.Join(rest, "\n"))
}

// span extends the time of the process to that of its profiles and samples.
func (p *process) span(r *resource) {
	first, last := int64(math.MaxInt64), int64(0)
	for _, at := range r.profiles {
		if at.time > 0 {
			first, last = min(first, at.time), max(last, at.end())
		}
		if at.timed {
			first, last = min(first, at.first), max(last, at.last)
		}
	}
	if first > last {
		return
	}
	row := &p.row
	if row.Clock.By == "" {
		row.Start, row.End, row.Clock.By = stream.Time(first), stream.Time(last), "the profile"
	}
	row.Start, row.End = min(row.Start, stream.Time(first)), max(row.End, stream.Time(last))
}

// end is when the profile ended, in ns since the Unix epoch.
func (p *profile) end() int64 { return p.time + min(p.duration, math.MaxInt64-p.time) }

// name finds the program's file, if all mappings are of this process alone.
func (p *process) name(d *dictionary, alone bool) {
	row := &p.row
	if row.Exe == "" && alone {
		if mapping, ok := d.row(otlpproto.DictionaryMapping, 1); ok {
			row.Exe = d.text(numbersOf(mapping)[otlpproto.MappingFile])
		}
	}
}

// describe notes what samples there are.
func (p *process) describe(r *resource) {
	for _, g := range r.groups {
		p.groups++
		for i, typ := range g.types {
			if name := typ.Name + "/" + typ.Unit; !slices.Contains(p.names, name) && len(p.names) < maxTypes {
				p.names = append(p.names, name)
			}
			p.timed = p.timed || g.profiles[i].timed
		}
		if p.row.Interval == 0 {
			p.row.Interval = values.Nanoseconds(g.profiles[0].every, g.period.Unit)
		}
		if p.groups == 1 {
			p.row.Profile.Types, p.row.Profile.PeriodType, p.row.Profile.Period = g.types, g.period, g.profiles[0].every
		}
	}
}

// finish says what is known when all parts are.
func (p *process) finish() {
	row := &p.row
	if row.Name == "" && row.Exe != "" {
		row.Name = naming.BaseName(row.Exe)
	}
	if row.Name == "" {
		row.Name = row.Service
	}
	if row.Name == "" {
		row.Name = "unnamed program"
	}
	if len(p.names) > 0 {
		row.CPU = "profile of " + strings.Join(p.names, ", ")
	}
	if p.timed || p.groups != 1 { // unlike a profile of pprof's format
		row.Profile.Types, row.Profile.PeriodType, row.Profile.Period = nil, stream.ValueType{}, 0
	}
	for i := range p.lines {
		p.lines[i].Process = row.InstanceName()
	}
}

// Source returns the source of the processes that have an id.
func (f *File) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	s := &source{file: f, tables: t, ids: ids, shift: shift}
	for i := range f.parts {
		p := &f.parts[i]
		s.total += p.to - p.from
		for k := range p.units {
			if at := p.units[k].process; at < len(ids) && ids[at] != 0 {
				s.wanted = append(s.wanted, wanted{p, &p.units[k]})
			}
		}
	}
	if len(s.wanted) == 0 {
		return stream.Merge(t)
	}
	return s
}
