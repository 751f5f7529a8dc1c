package speedscope

import (
	"fmt"
	"strconv"
	"sync/atomic"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// maxFrames bounds a stack: of a recursion of which each depth was sampled, all stacks together would
// have as many frames as the square of that.
const maxFrames = 4096

// frames are the functions of a run, numbered from 0 as they stand in the file.
type frames struct {
	tables *stream.Tables
	of     []int32 // by FrameID
	cut    atomic.Int64
}

// function is what tells functions apart. The first line does where a file has many of one name, as
// scripts do.
type function struct {
	name, file   stream.StringID
	module       stream.ModuleID // and offset: of code without a name
	offset       uint64
	line, column int32
}

func functionOf(f stream.Frame) function {
	switch {
	case f.Function == 0:
		return function{module: f.Module, offset: f.Offset}
	case f.Script:
		return function{name: f.Function, file: f.File, line: f.Start, column: f.StartColumn}
	}
	return function{name: f.Function, file: f.File}
}

// build numbers all frames, and writes the functions.
func (f *frames) build(t *stream.Tables, out *jsontext.Writer) {
	f.tables, f.of = t, make([]int32, t.Frames.Len()+1)
	numbers := make(map[function]int32)
	starts := map[function][2]int32{} // where a frame says so
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		frame := t.Frames.At(id)
		if frame.Start > 0 {
			starts[functionOf(frame)] = [2]int32{frame.Start, frame.StartColumn}
		}
	}
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		frame := t.Frames.At(id)
		key := functionOf(frame)
		number, known := numbers[key]
		if !known {
			number = int32(len(numbers))
			numbers[key] = number
			f.write(out, frame, starts[key])
		}
		f.of[id] = number
	}
}

func (f *frames) write(out *jsontext.Writer, frame stream.Frame, start [2]int32) {
	out.BeginObject()
	out.Member("name", f.nameOf(frame))
	if frame.File != 0 {
		out.Member("file", f.tables.Strings.At(frame.File))
	} else if frame.Module != 0 {
		out.Member("file", f.tables.Modules.At(frame.Module).Name)
	}
	if start[0] > 0 {
		out.Number("line", int64(start[0]))
	}
	if start[1] > 0 {
		out.Number("col", int64(start[1]))
	}
	out.EndObject()
}

// nameOf is the text of a frame.
func (f *frames) nameOf(frame stream.Frame) string {
	if frame.Function != 0 {
		return f.tables.Strings.At(frame.Function)
	}
	address := "0x" + strconv.FormatUint(frame.Offset, 16)
	if frame.Module == 0 {
		return address
	}
	return f.tables.Modules.At(frame.Module).Name + "+" + address
}

// appendStack appends a stack as a list of its frames, outermost first. It may be called on any
// goroutine.
func (f *frames) appendStack(dst []byte, stack uint64) []byte {
	numbers := make([]int32, 0, 64)
	id := stream.StackID(stack)
	for id != 0 && len(numbers) < maxFrames {
		var frame stream.FrameID
		id, frame = f.tables.Stacks.At(id)
		numbers = append(numbers, f.of[frame])
	}
	if id != 0 {
		f.cut.Add(1)
	}
	dst = append(dst, '[')
	for i := len(numbers) - 1; i >= 0; i-- {
		dst = jsontext.AppendUint(dst, uint64(numbers[i]))
		if i > 0 {
			dst = append(dst, ',')
		}
	}
	return append(dst, ']')
}

// tell tells of stacks that were cut.
func (f *frames) tell(l *stream.Ledger) {
	if n := f.cut.Load(); n > 0 {
		l.Add(stream.Line{Reason: stream.ReasonCut, What: "stacks", Where: fmt.Sprintf("of more than %d frames: the outermost are left out; other formats have them", maxFrames), Count: n})
	}
}
