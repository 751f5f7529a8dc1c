package perf

import (
	"path"
	"slices"
	"strings"

	"gprof/ingest/internal/naming"
	"gprof/rawformat/callframe"
	"gprof/rawformat/jitcode"
	"gprof/rawformat/perfevent"
	"gprof/rawformat/roots"
	"gprof/stream"
	"gprof/stream/jitnames"
)

// Categories of frames, as Firefox Profiler has them for perf.
var (
	kernelCategory = stream.Category{Name: "Kernel", Color: "orange"}
	userCategory   = stream.Category{Name: "User", Color: "yellow"}
)

// code turns addresses into frames. It locks the tables only while it interns, because other files
// are read meanwhile.
type code struct {
	tables  *stream.Tables
	resolve naming.Resolve
	life    *life
	builds  map[string]string // by file name

	modules  []stream.ModuleID // by file, -1 unknown
	known    map[place]frameList
	recent   map[addressKey]cachedFrames
	frames   []stream.FrameID // of all lists
	labels   map[labelKey]stream.StackID
	segments map[segment]bool
	path     []spot
	joins    []join
	unmapped map[uint64]bool // addresses of no file, at most maxRecent
	follower *follower       // nil: no programs are given
}

// place is an offset in a file.
type place struct {
	file   int32 // -1: offset is an address of no file
	kernel bool
	offset uint64
	exact  bool    // false: it is a return address
	listed uint64  // offset of a kernel module's code from the kernel's text, else 0
	made   jitCode // for JIT code
}

// jitCode is the address of code that a process generated.
type jitCode struct {
	pid     int32
	address uint64
}

// addressKey is an address of a process.
type addressKey struct {
	process *process
	spot
}

// spot is an address of a call chain.
type spot struct {
	address uint64
	kernel  bool
	exact   bool
}

// cachedFrames are the frames at an address for a version of the mappings.
type cachedFrames struct {
	version int32
	frames  frameList
}

// join is the stack that code at an address has, called from another one, for a version of the mappings. Most
// samples have stacks that others had: their frames need not be looked up.
type join struct {
	addressKey
	version    int32
	caller, id stream.StackID
}

// maxJoins is how many are known, a power of two; one makes way for another of its place.
const maxJoins = 1 << 16

// joinAt is where the join of a caller and an address is, or may be put.
func (c *code) joinAt(caller stream.StackID, at *addressKey) *join {
	const mix = 0x9e3779b97f4a7c15
	h := (at.address ^ uint64(caller)<<40) * mix
	return &c.joins[(h^h>>29)*mix>>48]
}

// frameList is a range of frames of a code, which keeps lists of one small.
type frameList struct{ at, end int32 }

// maxRecent bounds the cached addresses and places. Most of a program's time is spent in far fewer.
const maxRecent = 1 << 16

func newCode(t *stream.Tables, f *File) *code {
	c := &code{tables: t, resolve: f.resolve, life: f.life, builds: f.facts.builds, modules: make([]stream.ModuleID, len(f.life.files)),
		known: map[place]frameList{}, recent: map[addressKey]cachedFrames{}, labels: map[labelKey]stream.StackID{}, segments: map[segment]bool{}, unmapped: map[uint64]bool{}, joins: make([]join, maxJoins)}
	for i := range c.modules {
		c.modules[i] = -1
	}
	if f.follow != nil {
		c.follower = newFollower(c, f.follow)
	}
	return c
}

// stack interns the stack of a sample, of event a. cut says that the kernel's chain is too short.
func (c *code) stack(p *process, s *perfevent.Sample, a *attr, misc uint16, cut bool) (id stream.StackID) {
	c.chain(s, misc)
	version, kernel := p.version(s.Time), c.life.kernel.version(s.Time)
	if s.Copied && c.follower != nil {
		c.path = c.follower.extend(c.path, p, version, s, a)
		cut = c.follower.end == callframe.CopyEnds || cut && c.follower.end == callframe.Joined
	}
	if cut {
		id = c.withLabel(0, roots.Truncated, stream.Category{})
	}
	for i := len(c.path) - 1; i >= 0; i-- {
		at, v := addressKey{p, c.path[i]}, version
		if at.kernel {
			at.process, v = &c.life.kernel, kernel
		}
		j := c.joinAt(id, &at)
		if j.addressKey != at || j.version != int32(v) || j.caller != id {
			*j = join{at, int32(v), id, c.join(id, c.at(at, v))}
		}
		id = j.id
	}
	return id
}

// join interns a stack with more frames.
func (c *code) join(id stream.StackID, frames []stream.FrameID) stream.StackID {
	c.tables.Lock()
	defer c.tables.Unlock()
	for _, frame := range frames {
		id = c.tables.Stacks.Intern(id, frame)
	}
	return id
}

// chain splits a sample's call chain into addresses, the innermost first.
func (c *code) chain(s *perfevent.Sample, misc uint16) {
	c.path = c.path[:0]
	kernel := perfevent.InKernel(misc)
	if len(s.Chain) == 0 {
		if s.IP != 0 {
			c.path = append(c.path, spot{s.IP, kernel, true})
		}
		return
	}
	exact := true
	for _, address := range s.Chain {
		if address >= perfevent.MarkLowest {
			kernel = perfevent.MarksKernel(address)
			exact = true
			continue
		}
		if address != 0 {
			c.path = append(c.path, spot{address, kernel, exact})
		}
		exact = false
	}
	if s.UserIP != 0 && perfevent.InKernel(misc) && !slices.Contains(s.Chain, perfevent.MarkUser) {
		c.path = append(c.path, spot{s.UserIP, false, true})
	}
}

// at returns the frames at an address, the outermost first.
func (c *code) at(r addressKey, version int) []stream.FrameID {
	known, ok := c.recent[r]
	if !ok || known.version != int32(version) {
		if len(c.recent) == maxRecent {
			clear(c.recent)
		}
		known = cachedFrames{int32(version), c.list(c.place(r, version))}
		c.recent[r] = known
	}
	return c.frames[known.frames.at:known.frames.end]
}

// forget frees the caches when all is read.
func (c *code) forget() {
	c.known, c.recent, c.labels, c.frames, c.joins = nil, nil, nil, nil, nil
	if c.follower != nil {
		c.follower.forget()
	}
}

func (c *code) place(r addressKey, version int) place {
	m := r.process.find(version, r.address)
	if m == nil {
		return place{file: -1, kernel: r.kernel, offset: r.address, exact: r.exact, made: c.jitAt(r)}
	}
	p := place{file: m.file, kernel: r.kernel, offset: r.address - m.start + m.offset, exact: r.exact}
	switch text := c.kernelText(); {
	case c.isKernel(m.file): // its offset is the address of its text, which moves from boot to boot
		p.offset = r.address - m.offset
	case r.kernel && text != nil:
		p.listed = r.address - text.offset
	case perfevent.IsMade(c.life.files[m.file].name):
		p.made = c.jitAt(r)
	case !r.kernel:
		c.addSegment(m)
	}
	return p
}

// segment is where a part of a file was mapped.
type segment struct {
	file               int32
	start, end, offset uint64
}

// addSegment adds a mapping to the tables, for tools that open the file.
func (c *code) addSegment(m *mapping) {
	key := segment{m.file, m.start, m.end, m.offset}
	if c.segments[key] || len(c.segments) == maxSegments {
		return
	}
	c.segments[key] = true
	c.tables.Lock()
	defer c.tables.Unlock()
	c.tables.AddMapping(stream.Mapping{Module: c.module(m.file), Start: m.start, Limit: m.end, Offset: m.offset, Path: c.life.files[m.file].name})
}

const maxSegments = 1 << 16

// jitAt is the address as JIT code if somebody may name it; otherwise places are the same in all
// processes.
func (c *code) jitAt(r addressKey) jitCode {
	if c.resolve == nil || r.kernel {
		return jitCode{}
	}
	return jitCode{r.process.pid, r.address}
}

// kernelName begins the name of the kernel's file, before the symbol that its mapping refers to.
const kernelName = "[kernel.kallsyms]"

func (c *code) isKernel(file int32) bool {
	return strings.HasPrefix(c.life.files[file].name, kernelName)
}

// list interns the frames at a place, the outermost first.
func (c *code) list(p place) frameList {
	list, ok := c.known[p]
	if ok {
		return list
	}
	if len(c.known) == maxRecent { // the lists of recent addresses go with them
		clear(c.known)
		clear(c.recent)
		c.frames = c.frames[:0]
	}
	list.at = int32(len(c.frames))
	c.frames = c.intern(c.frames, p)
	list.end = int32(len(c.frames))
	c.known[p] = list
	return list
}

// intern appends the frames at a place.
func (c *code) intern(frames []stream.FrameID, p place) []stream.FrameID {
	c.tables.Lock()
	defer c.tables.Unlock()
	f := stream.Frame{Offset: p.offset, Category: c.category(p.kernel)}
	injected := false
	if p.file >= 0 {
		f.Module = c.module(p.file)
		name := c.life.files[p.file].name
		if injected = isInjected(name); injected || !p.kernel && perfevent.IsMade(name) {
			f.Category = c.tables.Categories.Intern(jitnames.Other)
		}
	}
	before := uint64(0)
	if !p.exact {
		before = 1 // it is of the call
	}
	begun := len(frames)
	if frames = c.resolve.Append(frames, c.tables, f, p.offset-before); len(frames) == begun {
		switch {
		case p.listed != 0:
			f.Function = c.listed(p.file, p.listed-before)
		case p.made.pid != 0:
			c.nameJIT(&f, p.made.pid, p.made.address-before)
		}
		frames = append(frames, c.tables.Frames.Intern(f))
		if p.file < 0 && f.Function == 0 && len(c.unmapped) < maxRecent {
			c.unmapped[p.offset] = true
		}
	} else if injected {
		c.asJIT(frames[begun:])
	}
	return frames
}

// nameJIT names the function at an address of JIT code, if the process left a list that has it.
func (c *code) nameJIT(f *stream.Frame, pid int32, address uint64) {
	c.resolve(jitcode.OfProcess(pid), address, func(name, file string, line, _ int32) {
		name, source, at := jitnames.Split(name)
		if source != "" { // V8's tables of lines have files of random bytes
			file, line = source, at
		}
		f.Function, f.File, f.Line = c.tables.Strings.Intern(name), c.tables.Strings.Intern(file), line
		f.Category = c.tables.Categories.Intern(jitnames.Category(name))
	})
}

// isInjected reports whether a file is one that perf inject --jit makes of a jitdump: jitted-PID-N.so.
func isInjected(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "jitted-") && strings.HasSuffix(base, ".so")
}

// asJIT gives frames of functions that were made the categories of such.
func (c *code) asJIT(frames []stream.FrameID) {
	for i, id := range frames {
		f := c.tables.Frames.At(id)
		f.Category = c.tables.Categories.Intern(jitnames.Category(c.tables.Strings.At(f.Function)))
		frames[i] = c.tables.Frames.Intern(f)
	}
}

// kernelText is the mapping of the kernel itself, nil if unknown.
func (c *code) kernelText() *mapping {
	for i := range c.life.kernel.maps {
		if m := &c.life.kernel.maps[i]; m.file >= 0 && c.isKernel(m.file) {
			return m
		}
	}
	return nil
}

// listed is the function of a kernel module in the kernel's symbol list, 0 if that is of another
// boot or module.
func (c *code) listed(file int32, offset uint64) (function stream.StringID) {
	text := c.kernelText()
	build := c.tables.Modules.At(c.module(text.file)).Build
	if c.resolve == nil || build == "" {
		return 0
	}
	c.resolve(naming.AtBoot(build, text.offset), offset, func(name, _ string, _, _ int32) {
		if name, ok := strings.CutSuffix(name, " ["+kernelModule(c.life.files[file].name)+"]"); ok {
			function = c.tables.Strings.Intern(name)
		}
	})
	return function
}

// kernelModule is the kernel's name of a module, whose file perf names by that in brackets, or by
// its path.
func kernelModule(file string) string {
	name := strings.Trim(path.Base(file), "[]")
	name, _, _ = strings.Cut(name, ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

func (c *code) category(kernel bool) stream.CategoryID {
	if kernel {
		return c.tables.Categories.Intern(kernelCategory)
	}
	return c.tables.Categories.Intern(userCategory)
}

func (c *code) module(file int32) stream.ModuleID {
	if c.modules[file] < 0 {
		f := c.life.files[file]
		name, build := f.name, f.build
		if c.isKernel(file) {
			name = kernelName
		}
		if build == "" {
			build = c.builds[name]
		}
		c.modules[file] = c.tables.Modules.Intern(moduleOf(name, build))
	}
	return c.modules[file]
}

func moduleOf(name, build string) stream.Module {
	m := stream.Module{Build: build, Path: name, Name: path.Base(name)}
	if build != "" {
		m.Path = ""
	}
	return m
}

type labelKey struct {
	stack stream.StackID
	name  string
}

// withLabel is a stack with a label as its innermost frame.
func (c *code) withLabel(stack stream.StackID, name string, category stream.Category) stream.StackID {
	k := labelKey{stack, name}
	id, ok := c.labels[k]
	if !ok {
		if len(c.labels) == maxRecent {
			clear(c.labels)
		}
		c.tables.Lock()
		defer c.tables.Unlock()
		id = c.tables.Stacks.Intern(stack, c.tables.Frames.Intern(stream.Frame{Label: true, Function: c.tables.Strings.Intern(name), Category: c.tables.Categories.Intern(category)}))
		c.labels[k] = id
	}
	return id
}
