package otlp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
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
	size      int64 // as protobuf, up to where it is intact
	damaged   bool  // behind that
	processes []process
	newer     int64 // fields of a later version
	originals int64 // profiles with the data that they were made of
	resolve   naming.Resolve
}

// process is a resource of the file.
type process struct {
	row    stream.Process
	groups []group
	lines  []stream.Line // that its comments are
	lost   int64         // undefined attributes
}

// Open reads a file; open opens it, decompressed, and is called again when the samples are read. The
// error wraps that of reading, [ErrProfile], or is a [damage.Error]. If there is a File as well, it is
// readable up to the error.
func Open(open func() (io.ReadCloser, error)) (*File, error) {
	f := &File{open: open}
	in, newer, err := f.message()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	_, f.json = in.(*heldMessage)
	s, err := scan(in)
	if s == nil {
		return nil, err
	}
	f.size, f.damaged, f.newer, f.originals = s.size, err != nil, s.newer+newer, s.originals
	for i, r := range s.resources {
		f.processes = append(f.processes, s.process(r, i))
	}
	return f, err
}

// maxJSON bounds a file as JSON, which is read into memory.
const maxJSON = 1 << 30

// shorter is how many times as long JSON is, as a rule, as the same in protobuf.
const shorter = 3

// readAll reads to the end; of may know the size.
func readAll(in io.Reader, of io.Reader) ([]byte, error) {
	var text bytes.Buffer
	if f, ok := of.(fs.File); ok {
		if info, err := f.Stat(); err == nil {
			text.Grow(int(min(max(0, info.Size()), maxJSON)) + bytes.MinRead)
		}
	}
	_, err := text.ReadFrom(in)
	return text.Bytes(), err
}

// message opens the file as protobuf. newer is how many fields of JSON are not known.
func (f *File) message() (in io.ReadCloser, newer int64, err error) {
	in, err = f.open()
	if err != nil {
		return nil, 0, err
	}
	head := bufio.NewReaderSize(in, 64)
	if start, _ := head.Peek(64); !isJSON(start) {
		return struct {
			io.Reader
			io.Closer
		}{head, in}, 0, nil
	}
	defer in.Close()
	text, err := readAll(io.LimitReader(head, maxJSON+1), in)
	if err != nil {
		return nil, 0, &damage.Error{Off: int64(len(text)), Err: err}
	}
	if len(text) > maxJSON {
		return nil, 0, &damage.Error{Off: maxJSON, Err: fmt.Errorf("%w: JSON of more than 1 GiB, want protobuf", damage.ErrTooBig)}
	}
	if !json.Valid(text) {
		var anything json.RawMessage
		return nil, 0, jsonError(text, json.Unmarshal(text, &anything))
	}
	body, newer, err := otlpproto.Data.AppendProto(make([]byte, 0, len(text)/shorter), text)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrProfile, err)
	}
	return &heldMessage{Reader: bytes.NewReader(body), body: body}, newer, nil
}

// heldMessage is a message in memory.
type heldMessage struct {
	*bytes.Reader
	body []byte
}

func (*heldMessage) Close() error { return nil }

// maxHeld is the size in bytes up to which a file is read into memory when its samples are read.
const maxHeld = 8 << 20

// hold returns the intact part of the message if it is small, or is in memory anyway; else nil.
func (f *File) hold() (held []byte, err error) {
	if f.size > maxHeld && !f.json {
		return nil, nil
	}
	in, _, err := f.message()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if m, ok := in.(*heldMessage); ok {
		return m.body[:min(f.size, int64(len(m.body)))], nil
	}
	held, err = io.ReadAll(io.LimitReader(in, f.size))
	return held, err
}

func jsonError(text []byte, err error) error {
	if bad, ok := err.(*json.SyntaxError); ok && bad.Offset < int64(len(text)) {
		return &damage.Error{Off: bad.Offset, Err: fmt.Errorf("%w: %w", damage.ErrDamaged, err)}
	}
	return &damage.Error{Off: int64(len(text)), Err: damage.ErrTorn}
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

// process is a resource as a process.
func (s *survey) process(r *resource, i int) process {
	p := process{groups: r.groups, row: stream.Process{Instance: s.instance + uint64(i), Clock: stream.Clock{Pieces: 1, Uncertainty: -1}}}
	p.row.Instance = max(1, p.row.Instance)
	for _, a := range s.dictionary.pairs(r.message, otlpproto.ResourceAttribute) {
		p.resourceAttribute(a)
	}
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
	p.name(&s.dictionary, len(s.resources) == 1)
	p.describe(r)
	for i := range p.lines {
		p.lines[i].Process = p.row.InstanceName()
	}
	return p
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
			p.lines = append(p.lines, line)
		} else if _, err := fmt.Sscanf(comment, profileproto.CommentUnknownCPU, &unknown); err == nil && unknown > 0 {
			p.row.Profile.UnknownCPU = unknown
		} else {
			rest = append(rest, comment)
		}
	}
	p.attr("comment", strings.Join(rest, "\n"))
}

// span finds the time of the process: that of its profiles and samples.
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
	if first <= last {
		p.row.Start, p.row.End, p.row.Clock.By = stream.Time(first), stream.Time(last), "the profile"
	}
}

// end is when the profile ended, in ns since the Unix epoch.
func (p *profile) end() int64 { return p.time + min(p.duration, math.MaxInt64-p.time) }

// name finds the program's name; alone is whether all mappings are of this process.
func (p *process) name(d *dictionary, alone bool) {
	row := &p.row
	if row.Exe == "" && alone {
		if mapping, ok := d.row(otlpproto.DictionaryMapping, 1); ok {
			row.Exe = d.text(numbersOf(mapping)[otlpproto.MappingFile])
		}
	}
	if row.Name == "" && row.Exe != "" {
		row.Name = naming.BaseName(row.Exe)
	}
	if row.Name == "" {
		row.Name = row.Service
	}
	if row.Name == "" {
		row.Name = "unnamed program"
	}
}

// describe says what samples there are.
func (p *process) describe(r *resource) {
	timed := false
	var names []string
	for _, g := range r.groups {
		for i, typ := range g.types {
			names = append(names, typ.Name+"/"+typ.Unit)
			timed = timed || g.profiles[i].timed
		}
		if p.row.Interval == 0 {
			p.row.Interval = values.Nanoseconds(g.profiles[0].every, g.period.Unit)
		}
	}
	p.row.CPU = "profile of " + strings.Join(names, ", ")
	if len(r.groups) == 0 {
		p.row.CPU = ""
	}
	if !timed && len(r.groups) == 1 { // as a profile of pprof's format
		g := &r.groups[0]
		p.row.Profile.Types, p.row.Profile.PeriodType, p.row.Profile.Period = g.types, g.period, g.profiles[0].every
	}
}

// Source returns the source of the processes that have an id.
func (f *File) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	s := &source{file: f, tables: t, shift: shift}
	for i, id := range ids {
		if id != 0 {
			s.wanted = append(s.wanted, wanted{id, &f.processes[i]})
		}
	}
	if len(s.wanted) == 0 {
		return stream.Merge(t)
	}
	return s
}
