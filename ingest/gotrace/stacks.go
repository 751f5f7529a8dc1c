package gotrace

import (
	"math"
	"slices"

	"gprof/stream"
	"gprof/stream/gonames"
)

// stacks makes stacks of the trace those of the tables.
type stacks struct {
	tables *stream.Tables
	known  map[stackRef]stackInfo // of this generation
	frames []frame
	bad    int64 // stacks that could not be read
	cut    int64 // stacks that may be deeper than a trace tells
}

// stackInfo is a stack of the tables.
type stackInfo struct {
	id   stream.StackID
	root string // name of the track of goroutines that began there, "" if it is not known
}

// deepest is how many frames a trace tells of a stack at least that is too deep for it:
// of 128 places one is not the stack's, and the runtime takes the outermost one or two
// for goexit and main. Of a CPU sample it has 64.
const (
	deepest       = 125
	deepestSample = 64
)

// forget ends a generation: stacks are of one, and hold it.
func (s *stacks) forget() { clear(s.known) }

// intern returns the stack; its id is 0 if there is none.
func (s *stacks) intern(ref stackRef) stackInfo {
	return s.internUpTo(ref, deepest)
}

// internSample is intern for a CPU sample, of which Go's profiler tells less.
func (s *stacks) internSample(ref stackRef) stackInfo { return s.internUpTo(ref, deepestSample) }

func (s *stacks) internUpTo(ref stackRef, most int) stackInfo {
	if ref == noStack {
		return stackInfo{}
	}
	info, ok := s.known[ref]
	if !ok {
		info = s.define(ref, most)
		s.known[ref] = info
	}
	return info
}

func (s *stacks) define(ref stackRef, most int) (info stackInfo) {
	frames, err := appendFrames(s.frames[:0], ref)
	s.frames = frames
	if err != nil {
		s.bad++
		return info
	}
	if len(frames) == 0 {
		return info
	}
	t := s.tables
	t.Lock()
	defer t.Unlock()
	cut := len(frames) >= most && frames[len(frames)-1].function != "runtime.goexit"
	if cut {
		s.cut++
		info.id = t.Stacks.Intern(0, t.Frames.Intern(stream.Frame{Label: true, Function: t.Strings.Intern(gonames.Truncated)}))
	}
	for _, f := range slices.Backward(frames) {
		info.id = t.Stacks.Intern(info.id, t.Frames.Intern(stream.Frame{
			Function: t.Strings.Intern(f.function), File: t.Strings.Intern(f.file), Line: int32(min(f.line, math.MaxInt32)),
			Category: t.Categories.Intern(gonames.Category(f.function)),
		}))
	}
	if cut {
		return info
	}
	root, next := frames[len(frames)-1].function, ""
	if len(frames) > 1 {
		next = frames[len(frames)-2].function
	}
	info.root = gonames.Root(root, next)
	return info
}

// under is a stack with a label as its innermost frame.
func (s *stacks) under(stack stream.StackID, label string, c stream.Category) stream.StackID {
	t := s.tables
	t.Lock()
	defer t.Unlock()
	return t.Stacks.Intern(stack, t.Frames.Intern(stream.Frame{Label: true, Function: t.Strings.Intern(label), Category: t.Categories.Intern(c)}))
}
