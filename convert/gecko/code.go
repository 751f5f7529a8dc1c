package gecko

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"gprof/stream"
)

// code is the frames and stacks of the run that the format can tell apart: places in one function
// of one module are one frame, and stacks that differ only in such places one stack.
type code struct {
	tables *stream.Tables
	merged stream.Tables    // Frames, without what the format lacks
	stacks []stream.StackID // merged, by StackID
	calls  []stream.StackID // the same for stacks captured in a call, see build; nil if all are as in stacks
	nodes  []node           // by merged StackID
	ranges []addresses      // by ModuleID
	native []bool           // by StringID: names a function of a module
	used   []bool           // by ModuleID: in the process being written
}

// node is all that a thread needs of a merged stack, in one place. Threads have millions of stacks
// together, each a cache miss.
type node struct {
	caller stream.StackID // merged
	frame  stream.FrameID // merged
	thread int32          // the last thread that has it
	number int32          // in that thread
}

const (
	// ahead is how many stacks are merged at once, so that their nodes stay in the cache.
	ahead = 64
	// callersAhead is how many callers of each are read. Mostly a thread has seen those beyond.
	callersAhead = 8
)

// merge appends the merged stacks of a thread, up to ahead. It walks all of them outward in lockstep, up to what
// the thread has, so that cache misses overlap.
func (c *code) merge(dst, stacks []stream.StackID, thread int32) []stream.StackID {
	var ids [ahead]stream.StackID
	for i, id := range stacks {
		ids[i] = c.stacks[id]
	}
	dst = append(dst, ids[:len(stacks)]...)
	for far, left := 0, true; left && far < callersAhead; far++ {
		left = false
		for i, id := range ids[:len(stacks)] {
			if n := &c.nodes[id]; id != 0 && n.thread != thread {
				ids[i], left = n.caller, true
			}
		}
	}
	return dst
}

// addresses is a module's made-up range; end is 0 if there was no room left.
type addresses struct{ start, end uint64 }

const (
	// Between user space and the kernel there are no addresses. The end is where JSON numbers stop
	// being exact.
	firstAddress = 1 << 48
	lastAddress  = 1 << 53
	// maxModule bounds the size of a module; an offset above it is damage.
	maxModule = 1 << 40
	pageSize  = 4096
)

// build merges frames and stacks. The viewer takes the address of a calling frame for a return
// address, and moves it one byte back, into the call. Ours are in the call already; so such a
// frame's address is one higher than where it was sampled, and a stack whose last frame is known by
// address is two.
func (c *code) build(t *stream.Tables) error {
	c.tables = t
	c.merged = stream.Tables{}
	sampled, calling := c.mergeFrames(t)
	merged := stream.RowBytes{Stack: stream.MergedStack + 4, Frame: stream.MergedFrame + 2*4, String: 1, Track: 8}
	if calling != nil {
		merged.Stack, merged.Frame = 2*merged.Stack, 2*merged.Frame
	}
	if err := t.Reserve(merged.In(t)); err != nil {
		return err
	}
	if calling == nil {
		c.stacks, c.calls = stream.MergeStacks(&c.merged, t, sampled), nil
	} else {
		c.mergeStacks(sampled, calling)
	}
	// A node, its place, how many it called, and its row in the
	// table of a thread, as the row of a frame.
	rows := stream.RowBytes{Stack: int64(unsafe.Sizeof(node{})+unsafe.Sizeof(pair{})) + 2*4, Frame: 4}
	if err := t.Reserve(rows.In(&c.merged)); err != nil {
		return err
	}
	c.layOut()
	c.markNative()
	c.placeModules()
	return nil
}

// mergeStacks merges stacks whose last frame is another one when it is calling.
func (c *code) mergeStacks(sampled, calling []stream.FrameID) {
	of := &c.tables.Stacks
	c.stacks, c.calls = make([]stream.StackID, of.Len()+1), make([]stream.StackID, of.Len()+1)
	for id := stream.StackID(1); int(id) <= of.Len(); id++ {
		parent, frame := of.At(id)
		c.stacks[id] = c.merged.Stacks.Intern(c.calls[parent], sampled[frame])
		c.calls[id] = c.merged.Stacks.Intern(c.calls[parent], calling[frame])
	}
}

// mergeFrames returns the merged frames where sampled, and where calling; nil if all are the same.
func (c *code) mergeFrames(t *stream.Tables) (sampled, calling []stream.FrameID) {
	sampled, calling = make([]stream.FrameID, t.Frames.Len()+1), make([]stream.FrameID, t.Frames.Len()+1)
	differ := false
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := merge(t.Frames.At(id))
		sampled[id] = c.merged.Frames.Intern(f)
		calling[id] = sampled[id]
		if f.Function == 0 && !f.Label {
			f.Offset = max(f.Offset, f.Offset+1) // the last address has none behind it
			calling[id] = c.merged.Frames.Intern(f)
			differ = true
		}
	}
	if !differ {
		return sampled, nil
	}
	return sampled, calling
}

// captured is the merged stack of a row captured in a call, as those of markers are: the viewer
// takes its last frame for a calling one, too.
func (c *code) captured(id stream.StackID) stream.StackID {
	if c.calls != nil {
		return c.calls[id]
	}
	return c.stacks[id]
}

// layOut orders nodes so that each is followed by those that it called: mostly one, so a path to
// the root mostly goes back linearly through memory. A caller's id is lower than those that it
// called, so two passes by id find the places.
func (c *code) layOut() {
	merged := &c.merged.Stacks
	n := merged.Len()
	free := make([]int32, n+1) // how many stacks one has called, with all of theirs; then the place of the next one
	for id := stream.StackID(n); id > 0; id-- {
		caller, _ := merged.At(id)
		free[caller] += free[id] + 1
	}
	free[0] = 1
	place := make([]stream.StackID, n+1)
	c.nodes = make([]node, n+1)
	for id := stream.StackID(1); int(id) <= n; id++ {
		caller, frame := merged.At(id)
		at := free[caller]
		free[caller] += free[id] + 1
		free[id] = at + 1
		place[id] = stream.StackID(at)
		c.nodes[at] = node{caller: place[caller], frame: frame}
	}
	for _, list := range [][]stream.StackID{c.stacks, c.calls} {
		for id, to := range list {
			list[id] = place[to]
		}
	}
	c.merged = stream.Tables{Frames: c.merged.Frames}
}

// merge returns what the format keeps of a frame.
func merge(f stream.Frame) stream.Frame {
	out := stream.Frame{Module: f.Module, Function: f.Function, Category: f.Category, Label: f.Label, Scripted: f.Scripted, Window: f.Window}
	switch {
	case f.Function == 0:
		out.Offset = f.Offset
	case f.Script:
		out.Script, out.File, out.Start, out.StartColumn, out.Line, out.Column = true, f.File, f.Start, f.StartColumn, f.Line, f.Column
	}
	return out
}

// markNative finds the strings that name native functions.
func (c *code) markNative() {
	c.native = make([]bool, c.tables.Strings.Len()+1)
	for id := stream.FrameID(1); int(id) <= c.merged.Frames.Len(); id++ {
		if f := c.merged.Frames.At(id); f.Module != 0 && !f.Label {
			c.native[f.Function] = true
		}
	}
}

// placeModules gives each module, in order of ids, a range of addresses that covers its nameless
// frames.
func (c *code) placeModules() {
	size := make([]uint64, c.tables.Modules.Len()+1)
	for id := stream.FrameID(1); int(id) <= c.merged.Frames.Len(); id++ {
		if f := c.merged.Frames.At(id); f.Function == 0 && f.Offset < maxModule {
			size[f.Module] = max(size[f.Module], f.Offset+1)
		}
	}
	c.ranges = make([]addresses, len(size))
	next := uint64(firstAddress)
	for id := 1; id < len(size); id++ {
		end := next + (size[id]+pageSize-1)/pageSize*pageSize
		if end = max(end, next+pageSize); end <= lastAddress {
			c.ranges[id] = addresses{next, end}
			next = end
		}
	}
}

func (c *code) beginProcess() { c.used = make([]bool, c.tables.Modules.Len()+1) }

// appendLocation appends the location string of a merged frame. The viewer
// reads it with patterns:
//
//	0x…                     an address, looked up in the modules
//	name (in module)        a native function
//	name (place:1), name:1  a JavaScript function
//	anything else           a label
//
// If a bare name stands before a native function of that name in one thread,
// the viewer takes one for the other; so the bare one gets a suffix.
func (c *code) appendLocation(dst []byte, f stream.Frame) []byte {
	name := c.tables.Strings.At(f.Function)
	switch {
	case f.Label && c.native[f.Function]:
		return append(appendName(dst, name), " (label)"...)
	case f.Label:
		return appendLabel(dst, name)
	case f.Function == 0:
		return c.appendAddress(dst, f)
	case f.Script:
		return c.appendScript(dst, name, f)
	case f.Module != 0:
		return appendNative(dst, name, c.tables.Modules.At(f.Module).Name)
	case c.native[f.Function]:
		return appendNative(dst, name, "")
	}
	return appendLabel(dst, name)
}

// appendAddress appends an address that leads back to module and offset.
func (c *code) appendAddress(dst []byte, f stream.Frame) []byte {
	address := f.Offset
	if r := c.ranges[f.Module]; f.Offset < r.end-r.start {
		address += r.start
	}
	return strconv.AppendUint(append(dst, "0x"...), address, 16)
}

// appendScript appends the location of a function of a script: where it begins,
// which tells it from others of that name.
func (c *code) appendScript(dst []byte, name string, f stream.Frame) []byte {
	dst = append(appendName(dst, name), " ("...)
	if f.File != 0 {
		dst = append(dst, c.tables.Strings.At(f.File)...)
	} else {
		dst = append(dst, "unknown"...)
	}
	dst = strconv.AppendInt(append(dst, ':'), int64(f.Start), 10)
	if f.StartColumn != 0 {
		dst = strconv.AppendInt(append(dst, ':'), int64(f.StartColumn), 10)
	}
	return append(dst, ')')
}

// appendNative appends the location of a function of a module.
func appendNative(dst []byte, name, module string) []byte {
	if module == "" {
		module = "unknown"
	}
	dst = append(appendName(dst, name), " (in "...)
	// A bracket would end the module's name.
	dst = append(dst, strings.ReplaceAll(module, ")", "]")...)
	return append(dst, ')')
}

// appendLabel appends the location of something that is no code. A space
// behind it keeps the viewer from reading code in it.
func appendLabel(dst []byte, name string) []byte {
	dst = appendName(dst, name)
	if likeCode().MatchString(name) {
		dst = append(dst, ' ')
	}
	return dst
}

// likeCode matches what the viewer takes for a native or a JavaScript function.
var likeCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)(:[0-9]+|:[0-9]+\)|\(in [^)]*\)( \+ [0-9]+| \(.*:.*\))?)(\[[0-9]+\])?$`)
})

// appendName appends the name of a function or a label. A space before it
// keeps the viewer from reading an address.
func appendName(dst []byte, name string) []byte {
	switch {
	case name == "":
		return append(dst, "(no name)"...)
	case strings.HasPrefix(name, "0x"):
		dst = append(dst, ' ')
	}
	return append(dst, name...)
}
