package pprof

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"gprof/convert/internal/totals"
	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// locations numbers the locations that stacks need, from 1. One is a frame together with those
// inlined into it: a run of frames at one address, which are the lines of a location.
type locations struct {
	tables  *stream.Tables
	inlined []bool           // by FrameID
	alone   []uint32         // number of the location of a single frame, by FrameID
	runs    stream.Tables    // Stacks are runs, from the innermost function outward
	ofRun   []uint32         // by id in runs: number of the location
	list    []location       // by number-1
	run     []stream.FrameID // scratch

	// encoded is recently encoded stacks, each followed by 0. Samples share most of their path to
	// the root, and copying it is faster than walking it.
	encoded []byte
	at      []uint32 // by StackID: 1 + offset in encoded, 0 none
}

// maxEncoded bounds the bytes of encoded stacks.
const maxEncoded = 16 << 20

// location is a single frame, or a run.
type location struct {
	frame stream.FrameID
	run   stream.StackID // in runs
}

func (l *locations) build(t *stream.Tables) {
	n := t.Frames.Len() + 1
	*l = locations{tables: t, inlined: make([]bool, n), alone: make([]uint32, n), ofRun: make([]uint32, 1),
		at: make([]uint32, t.Stacks.Len()+1)}
	for id := 1; id < n; id++ {
		f := t.Frames.At(stream.FrameID(id))
		l.inlined[id] = f.Depth > 0 && !f.Label
	}
}

// encode returns the location numbers of a stack, leaf first, valid until the next call.
func (l *locations) encode(id stream.StackID) []byte {
	if known := l.at[id]; known != 0 {
		return encodedAt(l.encoded, known-1)
	}
	if len(l.encoded) >= maxEncoded {
		clear(l.at)
		l.encoded = l.encoded[:0]
	}
	from := len(l.encoded)
	for id != 0 {
		if known := l.at[id]; known != 0 {
			l.encoded = append(l.encoded, encodedAt(l.encoded, known-1)...)
			break
		}
		l.at[id] = uint32(len(l.encoded)) + 1
		l.encoded, id = l.appendNext(l.encoded, id)
	}
	l.encoded = append(l.encoded, 0)
	return encodedAt(l.encoded, uint32(from))
}

const (
	// together is how many stacks are approached at once.
	together = 64
	// ownCallers is how many callers a stack mostly shares with no other.
	ownCallers = 8
)

// approach walks some stacks outward in lockstep, up to encoded ones, so that cache misses of their
// callers overlap before they are encoded one by one: 7 to 18 % less time.
func (l *locations) approach(all []totals.Total) {
	var ids [together]stream.StackID
	for i := range all {
		ids[i] = all[i].Stack
	}
	for far, left := 0, true; left && far < ownCallers; far++ {
		left = false
		for i, id := range ids[:len(all)] {
			if id != 0 && l.at[id] == 0 {
				ids[i], _ = l.tables.Stacks.At(id)
				left = true
			}
		}
	}
}

// encodedAt is the rest of the stack at an offset. No number is 0, nor its last byte.
func encodedAt(encoded []byte, from uint32) []byte {
	rest := encoded[from:]
	return rest[:bytes.IndexByte(rest, 0)]
}

// appendNext appends a stack's innermost location, and returns the rest of the stack.
func (l *locations) appendNext(dst []byte, id stream.StackID) (out []byte, rest stream.StackID) {
	rest, frame := l.tables.Stacks.At(id)
	var number uint32
	if l.inlined[frame] {
		number, rest = l.takeRun(id)
	} else {
		number = l.single(frame)
	}
	return binary.AppendUvarint(dst, uint64(number)), rest
}

func (l *locations) single(frame stream.FrameID) uint32 {
	if l.alone[frame] == 0 {
		l.list = append(l.list, location{frame: frame})
		l.alone[frame] = uint32(len(l.list))
	}
	return l.alone[frame]
}

// takeRun returns the location of an inlined function and its callers, and the rest of the stack.
func (l *locations) takeRun(id stream.StackID) (number uint32, rest stream.StackID) {
	run := stream.StackID(0)
	for {
		caller, frame := l.tables.Stacks.At(id)
		run = l.runs.Stacks.Intern(run, frame)
		if !l.inlinedInto(frame, caller) {
			return l.numberOf(run), caller
		}
		id = caller
	}
}

// inlinedInto reports whether the frame is inlined into its caller.
func (l *locations) inlinedInto(frame stream.FrameID, caller stream.StackID) bool {
	if caller == 0 || !l.inlined[frame] {
		return false
	}
	_, id := l.tables.Stacks.At(caller)
	inner, outer := l.tables.Frames.At(frame), l.tables.Frames.At(id)
	return outer.Module == inner.Module && outer.Offset == inner.Offset && outer.Depth == inner.Depth-1 && !outer.Label
}

func (l *locations) numberOf(run stream.StackID) uint32 {
	for len(l.ofRun) <= int(run) {
		l.ofRun = append(l.ofRun, 0)
	}
	if l.ofRun[run] == 0 {
		l.list = append(l.list, location{run: run})
		l.ofRun[run] = uint32(len(l.list))
	}
	return l.ofRun[run]
}

// frames returns the frames of a location, innermost first, valid until the next call.
func (l *locations) frames(at location) []stream.FrameID {
	l.run = l.run[:0]
	if at.frame != 0 {
		return append(l.run, at.frame)
	}
	for run := at.run; run != 0; {
		inner, frame := l.runs.Stacks.At(run)
		l.run = append(l.run, frame)
		run = inner
	}
	// A run is interned from its innermost function: its id is that of the
	// outermost.
	for i, k := 0, len(l.run)-1; i < k; i, k = i+1, k-1 {
		l.run[i], l.run[k] = l.run[k], l.run[i]
	}
	return l.run
}

// functions numbers functions, from 1.
type functions struct {
	numbers map[function]uint64
	list    []function // by number-1
	starts  []int32    // first line by number-1, 0 unknown
}

// function identifies a function: two of a name may be in different files, and differ in the name
// that a linker knows them by.
type function struct {
	name, file stream.StringID
	linked     string // if isLinked; else the name
	isLinked   bool
}

// number returns the number of a frame's function. It keeps the first line, which not every frame
// has.
func (t *functions) number(of *stream.Tables, id stream.FrameID, frame stream.Frame) uint64 {
	f := function{name: frame.Function, file: frame.File}
	f.linked, f.isLinked = of.LinkName(id)
	if n, ok := t.numbers[f]; ok {
		t.starts[n-1] = max(t.starts[n-1], frame.Start)
		return n
	}
	if t.numbers == nil {
		t.numbers = make(map[function]uint64)
	}
	t.list = append(t.list, f)
	t.starts = append(t.starts, max(0, frame.Start))
	n := uint64(len(t.list))
	t.numbers[f] = n
	return n
}

// writeLocations writes the locations that samples have, in the order of their
// numbers.
func (s *Sink) writeLocations() {
	for i, at := range s.locations.list {
		s.frames = s.frames[:0]
		ids := s.locations.frames(at)
		for _, id := range ids {
			s.frames = append(s.frames, s.tables.Frames.At(id))
		}
		s.writeLocation(uint64(i+1), ids, s.frames)
	}
}

// writeLocation writes a location of frames, the innermost first.
func (s *Sink) writeLocation(number uint64, ids []stream.FrameID, frames []stream.Frame) {
	mapping, address := s.modules.place(frames)
	s.modules.note(mapping, frames)
	body := appendNumber(s.body[:0], profileproto.LocationID, number)
	body = appendNumber(body, profileproto.LocationMapping, uint64(mapping))
	body = appendNumber(body, profileproto.LocationAddress, address)
	for i, f := range frames {
		if f.Function != 0 {
			body = s.appendLine(body, ids[i], f)
		}
	}
	s.message(profileproto.ProfileLocation, body)
}

func (s *Sink) appendLine(dst []byte, id stream.FrameID, f stream.Frame) []byte {
	s.line = appendNumber(s.line[:0], profileproto.LineFunction, s.functions.number(s.tables, id, f))
	s.line = appendNumber(s.line, profileproto.LineNumber, uint64(max(0, f.Line)))
	return appendBytes(dst, profileproto.LocationLine, s.line)
}

func (s *Sink) writeFunctions() {
	for i, f := range s.functions.list {
		name := s.texts.number(s.tables.Strings.At(f.name))
		body := appendNumber(s.body[:0], profileproto.FunctionID, uint64(i+1))
		body = appendNumber(body, profileproto.FunctionName, name)
		linked := name
		if f.isLinked {
			linked = s.texts.number(f.linked)
		}
		body = appendNumber(body, profileproto.FunctionSystem, linked)
		body = appendNumber(body, profileproto.FunctionFile, s.texts.number(s.tables.Strings.At(f.file)))
		s.message(profileproto.ProfileFunction, appendNumber(body, profileproto.FunctionStart, uint64(s.functions.starts[i])))
	}
}

// writeMappings writes the mappings with locations, and imported ones.
func (s *Sink) writeMappings() {
	for i := range s.modules.list {
		if m := &s.modules.list[i]; m.found.used || m.came {
			s.writeMapping(i+1, m)
		}
	}
}

func (s *Sink) writeMapping(number int, at *mapping) {
	m, has := s.tables.Modules.At(at.module), at.has()
	body := appendNumber(s.body[:0], profileproto.MappingID, uint64(number))
	body = appendNumber(body, profileproto.MappingStart, at.start)
	body = appendNumber(body, profileproto.MappingLimit, at.limit)
	body = appendNumber(body, profileproto.MappingOffset, at.offset)
	body = appendNumber(body, profileproto.MappingFile, s.texts.number(cmp.Or(at.path, m.Path, m.Name)))
	body = appendNumber(body, profileproto.MappingBuild, s.texts.number(m.Build))
	body = appendBool(body, profileproto.MappingHasFunctions, has&stream.NamesFunctions != 0)
	body = appendBool(body, profileproto.MappingHasFiles, has&stream.NamesFiles != 0)
	body = appendBool(body, profileproto.MappingHasLines, has&stream.NamesLines != 0)
	s.message(profileproto.ProfileMapping, appendBool(body, profileproto.MappingHasInlined, has&stream.NamesInlined != 0))
}

func (s *Sink) writeTexts() {
	for _, text := range s.texts.list {
		s.buf = appendBytes(s.buf, profileproto.ProfileString, text)
		s.flush(flushSize)
	}
}
