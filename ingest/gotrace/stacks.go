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
}

// stackInfo is a stack of the tables.
type stackInfo struct {
	id   stream.StackID
	root string // name of the track of goroutines that began there
}

// forget ends a generation: stacks are of one, and hold it.
func (s *stacks) forget() { clear(s.known) }

// intern returns the stack; its id is 0 if there is none.
func (s *stacks) intern(ref stackRef) stackInfo {
	if ref == noStack {
		return stackInfo{}
	}
	info, ok := s.known[ref]
	if !ok {
		info = s.define(ref)
		s.known[ref] = info
	}
	return info
}

func (s *stacks) define(ref stackRef) (info stackInfo) {
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
	for _, f := range slices.Backward(frames) {
		info.id = t.Stacks.Intern(info.id, t.Frames.Intern(stream.Frame{
			Function: t.Strings.Intern(f.function), File: t.Strings.Intern(f.file), Line: int32(min(f.line, math.MaxInt32)),
			Category: t.Categories.Intern(gonames.Category(f.function)),
		}))
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
