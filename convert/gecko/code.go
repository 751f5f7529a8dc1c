package gecko

import "gprof/stream"

// code is the functions of the run as the format can tell them apart: many
// places in one function of one module become one frame, and stacks that differ
// only in such places one stack.
type code struct {
	tables *stream.Tables
	merged stream.Tables    // Frames and Stacks, without what is lost
	stacks []stream.StackID // merged, by StackID
	ranges []addresses      // by ModuleID
	native []bool           // by StringID: names a function of a module
	used   []bool           // by ModuleID: in the process being written
}

// addresses is the range that was made up for a module; end is 0 if there was
// no room left.
type addresses struct{ start, end uint64 }

const (
	// No process has anything at these addresses: above user space, below the
	// kernel. The end is where numbers stop to be exact in JSON.
	firstAddress = 1 << 48
	lastAddress  = 1 << 53
	// maxModule bounds the size of a module; an offset above it is damage.
	maxModule = 1 << 40
	pageSize  = 4096
)

func (c *code) build(t *stream.Tables) {
	c.tables = t
	c.merged = stream.Tables{}
	c.stacks = make([]stream.StackID, t.Stacks.Len()+1)
	frames := make([]stream.FrameID, t.Frames.Len()+1)
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		frames[id] = c.merged.Frames.Intern(merge(t.Frames.At(id)))
	}
	for id := stream.StackID(1); int(id) <= t.Stacks.Len(); id++ {
		parent, frame := t.Stacks.At(id)
		c.stacks[id] = c.merged.Stacks.Intern(c.stacks[parent], frames[frame])
	}
	c.markNative()
	c.placeModules()
}

// merge returns what the format keeps of a frame.
func merge(f stream.Frame) stream.Frame {
	out := stream.Frame{Module: f.Module, Function: f.Function, Category: f.Category, Label: f.Label}
	if f.Function == 0 {
		out.Offset = f.Offset
	}
	return out
}

// markNative finds the strings that name functions of modules.
func (c *code) markNative() {
	c.native = make([]bool, c.tables.Strings.Len()+1)
	for id := stream.FrameID(1); int(id) <= c.merged.Frames.Len(); id++ {
		if f := c.merged.Frames.At(id); f.Module != 0 && !f.Label {
			c.native[f.Function] = true
		}
	}
}

// placeModules gives each module a range of addresses that covers its frames
// without a name, in the order of ids.
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
