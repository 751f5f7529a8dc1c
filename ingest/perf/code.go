package perf

import (
	"math/bits"
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
	recent   []cachedFrames   // by hash
	frames   []stream.FrameID // of all lists
	labels   map[labelKey]stream.StackID
	segments map[segment]bool
	path     []spot
	trails   map[thread]*trail
	added    []stream.FrameID // by which a trail goes on
	ends     []int            // of the frames of each of its spots
	unmapped map[uint64]bool  // addresses of no file, at most maxCached
	follower *follower        // nil: no programs are given
}

// place is an offset in a file.
type place struct {
	file   int32 // -1: offset is an address of no file
	kernel bool
	exact  bool // false: it is a return address
	offset uint64
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
	addressKey
	version int32
	frames  frameList
}

// trail is the last stack of a thread. The next one mostly begins as it did, and what is common needs not be looked up.
type trail struct {
	version, kernel int // of the mappings
	root            stream.StackID
	path            []spot           // the outermost first
	ids             []stream.StackID // the stacks that end there
}

// maxTrails bounds the threads whose last stacks are known.
const maxTrails = 1 << 12

// frameList is a range of frames of a code, which keeps lists of one small.
type frameList struct{ at, end int32 }

// Most of a program's time is spent at far fewer addresses and places than these bounds of those that are cached.
const (
	maxRecent = 1 << 17 // addresses, a power of two
	maxKnown  = 1 << 18 // places
	maxCached = 1 << 16 // of anything else
)

func newCode(t *stream.Tables, f *File) *code {
	c := &code{tables: t, resolve: f.resolve, life: f.life, builds: f.facts.builds, modules: make([]stream.ModuleID, len(f.life.files)),
		known: map[place]frameList{}, recent: make([]cachedFrames, min(maxRecent, 8<<bits.Len64(uint64(f.frames)))), trails: map[thread]*trail{}, labels: map[labelKey]stream.StackID{}, segments: map[segment]bool{}, unmapped: map[uint64]bool{}}
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
	t := c.trail(thread{p, s.Tid})
	if t.version != version || t.kernel != kernel || t.root != id {
		t.version, t.kernel, t.root, t.path, t.ids = version, kernel, id, t.path[:0], t.ids[:0]
	}
	n := common(c.path, t.path)
	t.path, t.ids, c.added, c.ends = t.path[:n], t.ids[:n], c.added[:0], c.ends[:0]
	for i := len(c.path) - 1 - n; i >= 0; i-- {
		at, v := addressKey{p, c.path[i]}, version
		if at.kernel {
			at.process, v = &c.life.kernel, kernel
		}
		t.path = append(t.path, at.spot)
		c.added = append(c.added, c.at(at, v)...)
		c.ends = append(c.ends, len(c.added))
	}
	if n < len(t.path) {
		c.extend(t)
	}
	if n = len(t.ids); n > 0 {
		id = t.ids[n-1]
	}
	return id
}

// trail is that of a thread.
func (c *code) trail(who thread) *trail {
	t := c.trails[who]
	if t == nil {
		if len(c.trails) == maxTrails {
			clear(c.trails)
		}
		t = &trail{}
		c.trails[who] = t
	}
	return t
}

// extend interns the stacks of a trail with the added frames.
func (c *code) extend(t *trail) {
	c.tables.Lock()
	defer c.tables.Unlock()
	id, begin := t.root, 0
	if n := len(t.ids); n > 0 {
		id = t.ids[n-1]
	}
	for _, end := range c.ends {
		for _, frame := range c.added[begin:end] {
			id = c.tables.Stacks.Intern(id, frame)
		}
		begin = end
		t.ids = append(t.ids, id)
	}
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
	const mix = 0x9e3779b97f4a7c15
	h := (r.address ^ uint64(r.process.pid)<<40) * mix
	known := &c.recent[int(h>>40)&(len(c.recent)-1)]
	if known.addressKey != r || known.version != int32(version) {
		*known = cachedFrames{r, int32(version), c.list(c.place(r, version))}
	}
	return c.frames[known.frames.at:known.frames.end]
}

// forget frees the caches when all is read.
func (c *code) forget() {
	c.known, c.recent, c.labels, c.frames, c.trails = nil, nil, nil, nil, nil
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
	if len(c.known) == maxKnown { // the lists of recent addresses go with them
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
		if p.file < 0 && f.Function == 0 && len(c.unmapped) < maxCached {
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
		if len(c.labels) == maxCached {
			clear(c.labels)
		}
		c.tables.Lock()
		defer c.tables.Unlock()
		id = c.tables.Stacks.Intern(stack, c.tables.Frames.Intern(stream.Frame{Label: true, Function: c.tables.Strings.Intern(name), Category: c.tables.Categories.Intern(category)}))
		c.labels[k] = id
	}
	return id
}
