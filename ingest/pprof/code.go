package pprof

import (
	"gprof/ingest/internal/naming"
	"gprof/stream"
	"gprof/stream/gonames"
)

// code turns the contents of a pool, which grows meanwhile, into rows of the tables.
type code struct {
	from    *Pool
	to      *stream.Tables
	resolve naming.Resolve // of all files of the run

	// By id in the pool; 0 is not there yet, or none.
	texts   []stream.StringID
	modules []stream.ModuleID
	stacks  []stream.StackID
	labels  []stream.LabelsID
	located []extent // in frames, by site

	frames []stream.FrameID // of all used sites, each from the outermost frame inward
	begun  begunRows
	path   []stackID // scratch
	lines  []call    // scratch
}

// extent is a half-open range.
type extent struct{ from, to uint32 }

// codeFor returns the code that turns p, which is locked, into rows of t.
func (p *Pool) codeFor(t *stream.Tables, resolve naming.Resolve) *code {
	if p.code == nil || p.code.to != t {
		p.code = &code{from: p, to: t, resolve: resolve}
	}
	return p.code
}

// at is the place of an id in a list, which grows as needed.
func at[ID ~int32, T any](list *[]T, id ID) *T {
	if missing := int(id) + 1 - len(*list); missing > 0 {
		*list = append(*list, make([]T, missing)...)
	}
	return &(*list)[id]
}

// appendStacks appends stacks of the pool. It reads the known ones before it asks what they are, so that the cache misses
// overlap.
func (c *code) appendStacks(dst []stream.StackID, ids []stackID) []stream.StackID {
	for _, id := range ids {
		dst = append(dst, *at(&c.stacks, id))
	}
	for i, id := range ids {
		if to := &dst[len(dst)-len(ids)+i]; *to == 0 {
			*to = c.stack(id)
		}
	}
	return dst
}

// stack is a stack of the pool, which has a place in stacks: up to a known caller, and down again.
func (c *code) stack(id stackID) stream.StackID {
	c.path = c.path[:0]
	for c.stacks[id] == 0 && id != 0 {
		c.path = append(c.path, id)
		id, _ = c.from.stacks.At(id)
	}
	stack := c.stacks[id]
	for i := len(c.path) - 1; i >= 0; i-- {
		_, site := c.from.stacks.At(c.path[i])
		for _, frame := range c.framesAt(site) {
			stack = c.to.Stacks.Intern(stack, frame)
		}
		c.stacks[c.path[i]] = stack
	}
	return stack
}

// framesAt are the frames of a site.
func (c *code) framesAt(id siteID) []stream.FrameID {
	e := at(&c.located, id)
	if e.to == 0 {
		e.from = uint32(len(c.frames))
		c.locate(id)
		e.to = uint32(len(c.frames))
	}
	return c.frames[e.from:e.to]
}

// locate appends the frames of a site.
func (c *code) locate(id siteID) {
	if id == 0 {
		undefined := stream.Frame{Function: c.to.Strings.Intern("(undefined location)"), Label: true}
		c.frames = append(c.frames, c.to.Frames.Intern(undefined))
		return
	}
	s := c.from.sites.At(id)
	frame := stream.Frame{Module: c.module(s.module), Offset: s.offset}
	if !s.outside && s.inner == (call{}) && s.outer == 0 {
		known := len(c.frames)
		if c.frames = c.resolve.Append(c.frames, c.to, frame, s.offset); len(c.frames) > known {
			return
		}
	}
	for depth, line := range c.linesOf(s) {
		frame.Depth, frame.Category = int32(depth), c.category(line)
		frame.Function, frame.File, frame.Line, frame.Start = c.text(line.name), c.text(line.file), line.line, line.start
		id := c.to.Frames.Intern(frame)
		c.frames = append(c.frames, id)
		switch {
		case line.linked > 0:
			c.to.SetLinkName(id, c.from.texts.At(line.linked))
		case line.linked == noText:
			c.to.SetLinkName(id, "")
		}
	}
}

// category is that of a function of a Go program, else 0.
func (c *code) category(l call) stream.CategoryID {
	if name := c.from.texts.At(l.name); gonames.FromGo(name, c.from.texts.At(l.file)) {
		return c.to.Categories.Intern(gonames.Category(name))
	}
	return 0
}

// linesOf are the functions at a site, the outermost first.
func (c *code) linesOf(s site) []call {
	c.lines = append(c.lines[:0], s.inner)
	for id := s.outer; id != 0; {
		var line callID
		id, line = c.from.outer.At(id)
		c.lines = append(c.lines, c.from.callers.At(line))
	}
	for i, k := 0, len(c.lines)-1; i < k; i, k = i+1, k-1 {
		c.lines[i], c.lines[k] = c.lines[k], c.lines[i]
	}
	return c.lines
}

// module interns a module, known by its build id if it has one.
func (c *code) module(id moduleID) stream.ModuleID {
	to := at(&c.modules, id)
	if *to == 0 && id != 0 {
		m := c.from.modules.At(id)
		*to = naming.Module(c.to, c.from.texts.At(m.file), c.from.texts.At(m.build))
	}
	return *to
}

func (c *code) text(id textID) stream.StringID {
	to := at(&c.texts, id)
	if *to == 0 && id != 0 {
		*to = c.to.Strings.Intern(c.from.texts.At(id))
	}
	return *to
}

// who is the owner of a sample.
func (c *code) who(s *sample) stream.Owner {
	to := at(&c.labels, s.labels)
	if *to == 0 && s.labels != 0 {
		*to = c.to.Labels.Intern(c.from.labels.At(s.labels))
	}
	return stream.Owner{Goroutine: s.goroutine, Labels: *to}
}
