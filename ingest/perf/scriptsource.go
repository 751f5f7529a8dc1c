package perf

import (
	"bytes"
	"io"
	"path"
	"slices"
	"strings"

	"gprof/rawformat/jitcode"
	"gprof/rawformat/perfevent"
	"gprof/stream"
	"gprof/stream/gonames"
	"gprof/stream/jitnames"
)

// scriptSource gives the events of some processes of a text.
type scriptSource struct {
	output
	file   *Script
	closer io.Closer
	in     *script
	code   scriptCode
	sample sampleLine
}

// Source returns the source of the processes that have an id.
func (f *Script) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	t.Lock()
	defer t.Unlock()
	return &scriptSource{file: f, output: newOutput(t, f.life.all, ids, f.rows, shift), code: scriptCode{tables: t, golang: f.golang}}
}

// Progress implements [stream.Progress].
func (s *scriptSource) Progress() (done, total int64) {
	switch {
	case s.ended:
		return s.file.size, s.file.size
	case s.in == nil:
		return 0, s.file.size
	}
	return min(s.in.end, s.file.size), s.file.size
}

// Next implements [stream.Source].
func (s *scriptSource) Next(b *stream.Batch) error { return s.next(b, s.fill) }

// Close implements [io.Closer].
func (s *scriptSource) Close() error {
	s.ended = true
	s.rows.Drop()
	return s.release()
}

func (s *scriptSource) release() error {
	if s.closer == nil {
		return nil
	}
	err := s.closer.Close()
	s.closer = nil
	return err
}

// fill reads until there are rows to hand over, or no more samples.
func (s *scriptSource) fill() error {
	if s.in == nil {
		r, err := s.file.open()
		if err != nil {
			return err
		}
		s.closer, s.in = r, s.file.text(io.LimitReader(r, s.file.size))
		s.in.frame, s.in.place = s.code.add, s.code.place
	}
	for !s.rows.Full() {
		s.code.begin()
		if err := s.in.next(&s.sample); err == io.EOF {
			return s.finish()
		} else if err != nil {
			return err
		}
		s.take(&s.sample)
	}
	s.rows.Hand()
	if s.isFull() {
		return s.finish()
	}
	return nil
}

func (s *scriptSource) finish() error {
	s.rows.Hand()
	s.note(stream.Line{Reason: stream.ReasonMalformed, What: "lines", Count: s.file.strange})
	s.note(stream.Line{Reason: stream.ReasonUnsupported, What: "switches", Where: "of threads, in text: the perf.data has them, too", Count: s.file.missing.switches})
	s.note(stream.Line{Reason: stream.ReasonDropped, What: "records", Where: "by the kernel", Count: s.file.missing.lost})
	s.code.forget()
	s.ended = true
	return s.release()
}

// take makes rows of a sample.
func (s *scriptSource) take(p *sampleLine) {
	process := s.file.life.latest(s.file.pid(p))
	if s.ids[process] == 0 {
		return
	}
	who, at, stack := thread{process, p.tid}, s.file.facts.moment(p.time), s.code.stack()
	if p.tid < 0 {
		who.tid = process.pid
	}
	use := asMeasurements
	if i := slices.Index(s.file.events, p.event); i >= 0 {
		use = s.file.attrs[i].use
	}
	if use != asMeasurements {
		cpu := int64(-1)
		if use == asClock {
			cpu = p.period
		}
		s.addSample(who, at, stack, cpu)
	}
	if use != asClock {
		s.addMeasurement(who, at, stack, p.event, max(1, p.period))
	}
}

// scriptCode turns the lines of frames into stacks. Most lines repeat, so it caches what became of
// them.
type scriptCode struct {
	tables *stream.Tables
	golang map[string]bool // Go programs, by file

	known   map[string]int32 // index in rows, by line
	rows    []knownFrame
	inlined []stream.Frame // of lines
	size    int            // bytes of the cached lines
	path    []pathFrame    // frames of the sample, innermost first
}

// knownFrame is what became of a line.
type knownFrame struct {
	address uint64
	known   bool           // there is an address
	inlined int32          // 1 + index in inlined; 0: not inlined
	frame   stream.FrameID // if not inlined
}

// pathFrame is a frame of the sample and its source line.
type pathFrame struct {
	row  int32
	line int32 // 0 unknown
	file stream.StringID
}

const (
	maxKnownLines = 1 << 16
	maxKnownBytes = 8 << 20
)

// begin begins a sample.
func (c *scriptCode) begin() {
	c.path = c.path[:0]
	if c.known == nil {
		c.known = map[string]int32{}
	}
	if len(c.rows) > maxKnownLines || c.size > maxKnownBytes {
		clear(c.known)
		c.rows, c.inlined, c.size = c.rows[:0], c.inlined[:0], 0
	}
}

// forget frees the cache when all is read.
func (c *scriptCode) forget() { c.known, c.rows, c.inlined = nil, nil, nil }

// add adds the frame of a line to the sample; false if it is none.
func (c *scriptCode) add(line []byte) bool {
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
	c.path = append(c.path, pathFrame{row: row})
	return true
}

// learn interns a frame.
func (c *scriptCode) learn(f *frameLine) knownFrame {
	category, symbol, source, at := userCategory, string(f.symbol), "", int32(0)
	switch {
	case f.isKernel():
		category = kernelCategory
	case isMade(string(f.file)):
		category = jitnames.Category(symbol)
		symbol, source, at = jitnames.Split(symbol)
	case c.golang[string(f.file)] && bytes.IndexByte(f.symbol, '.') >= 0:
		category = gonames.Category(symbol)
	}
	c.tables.Lock()
	defer c.tables.Unlock()
	row := stream.Frame{Offset: f.address, Function: c.tables.Strings.Intern(symbol), File: c.tables.Strings.Intern(source), Line: at, Category: c.tables.Categories.Intern(category)}
	if len(f.file) > 0 {
		row.Module = c.tables.Modules.Intern(moduleOf(string(f.file), ""))
	}
	k := knownFrame{address: f.address, known: f.known}
	if f.inlined {
		c.inlined = append(c.inlined, row)
		k.inlined = int32(len(c.inlined))
	} else {
		k.frame = c.tables.Frames.Intern(row)
	}
	return k
}

// isMade reports whether a file, as perf prints it, is code that a program made: it is named by the
// list of its names.
func isMade(file string) bool {
	_, listed := jitcode.OfMapName(path.Base(file))
	return listed || strings.HasPrefix(file, "[JIT] ") || file != "" && perfevent.IsMade(file) || isInjected(file)
}

// place sets the source line of the sample's last frame.
func (c *scriptCode) place(file []byte, line int) {
	if n := len(c.path); n > 0 {
		c.tables.Lock()
		defer c.tables.Unlock()
		c.path[n-1].file, c.path[n-1].line = c.tables.Strings.InternBytes(file), int32(line)
	}
}

// stack interns the stack of the sample.
func (c *scriptCode) stack() (id stream.StackID) {
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

// group finds the beginning of the frames at one address that end before an index: a function and
// those inlined there, among which perf prints the function anywhere. Another function without the
// mark at the same address is another call.
func (c *scriptCode) group(end int) int {
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
func (c *scriptCode) addGroup(id stream.StackID, group []pathFrame) stream.StackID {
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

func (c *scriptCode) frame(row int32) stream.Frame {
	if i := c.rows[row].inlined; i > 0 {
		return c.inlined[i-1]
	}
	return c.tables.Frames.At(c.rows[row].frame)
}
