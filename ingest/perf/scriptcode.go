package perf

import (
	"bytes"

	"gprof/stream"
	"gprof/stream/gonames"
)

// printedCode turns the lines of frames into stacks. Most lines come again and again, so
// that it remembers what became of them.
type printedCode struct {
	tables *stream.Tables
	golang map[string]bool // by file: it is a Go program

	known   map[string]int32 // number of a line in rows
	rows    []knownLine
	inlined []stream.Frame // of lines
	size    int            // bytes of the lines that are known
	path    []placeLine    // frames of the sample, innermost first
}

// knownLine is what became of a line.
type knownLine struct {
	address uint64
	known   bool           // the address is
	inlined int32          // number of the frame in inlined, from 1; 0: it is a function's own
	frame   stream.FrameID // of a function's own
}

// placeLine is a line of the sample, and where its code is in the source.
type placeLine struct {
	row  int32
	line int32 // 0 untold
	file stream.StringID
}

const (
	maxKnownLines = 1 << 16
	maxKnownBytes = 8 << 20
)

// begin begins a sample.
func (c *printedCode) begin() {
	c.path = c.path[:0]
	if c.known == nil {
		c.known = map[string]int32{}
	}
	if len(c.rows) > maxKnownLines || c.size > maxKnownBytes {
		clear(c.known)
		c.rows, c.inlined, c.size = c.rows[:0], c.inlined[:0], 0
	}
}

// forget forgets what was remembered, when all is read.
func (c *printedCode) forget() { c.known, c.rows, c.inlined = nil, nil, nil }

// add adds the frame of a line to the sample; it is false if the line is none of a frame.
func (c *printedCode) add(line []byte) bool {
	row, ok := c.known[string(line)]
	if !ok {
		f, is := parseFrame(line)
		if !is {
			return false
		}
		row = int32(len(c.rows))
		c.rows = append(c.rows, c.learn(&f))
		c.known[string(line)] = row
		c.size += len(line)
	}
	c.path = append(c.path, placeLine{row: row})
	return true
}

// learn interns a frame.
func (c *printedCode) learn(f *printedFrame) knownLine {
	category := userCategory
	switch {
	case f.isKernel():
		category = kernelCategory
	case c.golang[string(f.file)] && bytes.IndexByte(f.symbol, '.') >= 0:
		category = gonames.Category(string(f.symbol))
	}
	c.tables.Lock()
	defer c.tables.Unlock()
	row := stream.Frame{Offset: f.address, Function: c.tables.Strings.InternBytes(f.symbol), Category: c.tables.Categories.Intern(category)}
	if len(f.file) > 0 {
		row.Module = c.tables.Modules.Intern(moduleOf(string(f.file), ""))
	}
	k := knownLine{address: f.address, known: f.known}
	if f.inlined {
		c.inlined = append(c.inlined, row)
		k.inlined = int32(len(c.inlined))
	} else {
		k.frame = c.tables.Frames.Intern(row)
	}
	return k
}

// place notes where the last frame of the sample is in the source.
func (c *printedCode) place(file []byte, line int) {
	if n := len(c.path); n > 0 {
		c.tables.Lock()
		defer c.tables.Unlock()
		c.path[n-1].file, c.path[n-1].line = c.tables.Strings.InternBytes(file), int32(line)
	}
}

// stack interns that of the sample.
func (c *printedCode) stack() (id stream.StackID) {
	c.tables.Lock()
	defer c.tables.Unlock()
	for end := len(c.path); end > 0; {
		at := c.group(end)
		if row := &c.rows[c.path[at].row]; end-at == 1 && row.inlined == 0 && c.path[at].line == 0 {
			id = c.tables.Stacks.Intern(id, row.frame)
		} else {
			id = c.addGroup(id, c.path[at:end])
		}
		end = at
	}
	return id
}

// group finds where the frames at one address begin that end before a place of the path:
// a function, and those that are inlined there. perf prints the function in any place
// among them. A function without the mark that follows at the same address is another
// call of it.
func (c *printedCode) group(end int) int {
	outer := &c.rows[c.path[end-1].row]
	own := outer.inlined == 0
	at := end - 1
	for ; at > 0; at-- {
		row := &c.rows[c.path[at-1].row]
		if row.known && row.address != outer.address || row.inlined == 0 && own {
			break
		}
		own = own || row.inlined == 0
	}
	return at
}

// addGroup interns the frames at one address below a stack.
func (c *printedCode) addGroup(id stream.StackID, group []placeLine) stream.StackID {
	shared := c.frame(group[len(group)-1].row)
	for _, l := range group {
		if c.rows[l.row].inlined == 0 {
			shared = c.frame(l.row)
		}
	}
	for i := range group {
		l := &group[len(group)-1-i]
		f := c.frame(l.row)
		f.Offset, f.Module, f.Category = shared.Offset, shared.Module, shared.Category
		f.Depth, f.File, f.Line = int32(i), l.file, l.line
		id = c.tables.Stacks.Intern(id, c.tables.Frames.Intern(f))
	}
	return id
}

// frame is that of a line that is known.
func (c *printedCode) frame(row int32) stream.Frame {
	if i := c.rows[row].inlined; i > 0 {
		return c.inlined[i-1]
	}
	return c.tables.Frames.At(c.rows[row].frame)
}
