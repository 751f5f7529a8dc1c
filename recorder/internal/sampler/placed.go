//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"runtime"
	"slices"

	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// placed resolves calls to frames, and remembers those of earlier stacks. A busy program's
// stacks differ in the innermost call as a rule, and asking the runtime for the functions
// at all the others took most of the keeper's time. It holds no pointers, so that the
// program's garbage collector need not look through it.
type placed struct {
	calls map[uintptr]placedCall
	pcs   []uint64 // of frames, leaf first
	fresh []freshCall
	last  []dict.Frame // of the last stack
}

// placedCall is the frames of a call; none if the compiler made the function around another
// one, or the runtime called it.
type placedCall struct {
	from, n uint32
	panics  bool // the function is one after which the runtime keeps such functions
}

// freshCall is a call that is remembered once the dictionary has its frames.
type freshCall struct {
	call   uintptr
	frames []dict.Frame
}

// maxPlaced is how many calls are remembered, in half a megabyte.
const maxPlaced = 1 << 13

// stack resolves the addresses of a key as [places] does, but frames of calls that are
// remembered have no functions and are known. Wrappers are functions that the compiler puts
// around others; they are in no stack. Tools that read the rings of a killed process find
// them there, and need their names. Frames are valid until the next call.
func (p *placed) stack(calls []uintptr) (leafFirst, wrappers []dict.Frame) {
	p.fresh = p.fresh[:0]
	p.last = sections(p.last[:0], calls, func(leafFirst []dict.Frame, calls []uintptr) []dict.Frame {
		calls, leafFirst = foreign(leafFirst, calls)
		panics := false
		for i, call := range calls {
			c, known := p.calls[call]
			switch {
			case panics:
				frames := locate(calls[i-1 : i+1])[len(locate(calls[i-1:i])):]
				leafFirst, c.panics = append(leafFirst, frames...), isPanic(frames)
			case known:
				for _, pc := range p.pcs[c.from : c.from+c.n] {
					leafFirst = append(leafFirst, dict.Frame{PC: pc, Known: true})
				}
			default:
				frames := locate(calls[i : i+1])
				leafFirst = append(leafFirst, frames...)
				p.fresh = append(p.fresh, freshCall{call, frames})
				if len(frames) == 0 {
					wrappers = appendNamed(wrappers, call)
				}
				c.panics = isPanic(frames)
			}
			panics = c.panics
		}
		return leafFirst
	})
	return p.last, wrappers
}

// remember notes the calls of the last stack, whose frames the dictionary has now. If it
// has not all that there is to know of one, that is looked up again.
func (p *placed) remember() {
	for _, f := range p.fresh {
		if slices.ContainsFunc(f.frames, isPartial) {
			continue
		}
		if p.calls == nil || len(p.calls) >= maxPlaced {
			p.calls, p.pcs = map[uintptr]placedCall{}, p.pcs[:0]
		}
		p.calls[f.call] = placedCall{uint32(len(p.pcs)), uint32(len(f.frames)), isPanic(f.frames)}
		for _, l := range f.frames {
			p.pcs = append(p.pcs, l.PC)
		}
	}
}

// forget forgets all calls, and reports whether there were any.
func (p *placed) forget() bool {
	if len(p.calls) == 0 {
		return false
	}
	p.calls, p.pcs = nil, p.pcs[:0]
	return true
}

func isPartial(l dict.Frame) bool {
	return len(l.Functions) == 0 || slices.ContainsFunc(l.Functions, func(f dict.Function) bool { return f.Start <= 0 })
}

// isPanic reports whether the function of a call is one of those before which the runtime
// leaves no wrappers out: elideWrapperCalling in its traceback.go.
func isPanic(frames []dict.Frame) bool {
	if len(frames) == 0 {
		return false
	}
	functions := frames[len(frames)-1].Functions
	return len(functions) > 0 && slices.Contains([]string{"runtime.gopanic", "runtime.sigpanic", "runtime.panicwrap"}, functions[0].Name)
}

// places resolves the addresses of a key to frames, each with all functions inlined there.
func places(calls []uintptr) (leafFirst []dict.Frame) {
	return sections(nil, calls, func(leafFirst []dict.Frame, calls []uintptr) []dict.Frame {
		calls, leafFirst = foreign(leafFirst, calls)
		return append(leafFirst, locate(calls)...)
	})
}

// sections appends the frames of the addresses between labels, and those of labels.
func sections(leafFirst []dict.Frame, calls []uintptr, add func(leafFirst []dict.Frame, calls []uintptr) []dict.Frame) []dict.Frame {
	for len(calls) > 0 {
		n := 0
		for n < len(calls) && calls[n]&rawformat.StackLabel == 0 {
			n++
		}
		leafFirst = add(leafFirst, calls[:n])
		if calls = calls[n:]; len(calls) == 0 {
			break
		}
		if calls[0] == rawformat.StackCut {
			leafFirst = append(leafFirst, dict.Truncated)
		} else if id := uint32(calls[0]); labelKnown(id) {
			leafFirst = append(leafFirst, dict.Frame{Label: id})
		}
		calls = calls[1:]
	}
	return leafFirst
}

func labelKnown(id uint32) bool {
	_, ok := registry.LabelNamed(id)
	return ok
}

// foreign appends the innermost calls of which Go knows no function, as in C code: only the
// pc is known. Among the others there is none.
func foreign(leafFirst []dict.Frame, calls []uintptr) (rest []uintptr, with []dict.Frame) {
	for len(calls) > 0 && runtime.FuncForPC(calls[0]-1) == nil {
		leafFirst = append(leafFirst, dict.Frame{PC: uint64(calls[0]) - 1})
		calls = calls[1:]
	}
	return calls, leafFirst
}

// locate resolves return addresses that frame pointers gave.
func locate(calls []uintptr) (leafFirst []dict.Frame) {
	expanded := make([]uintptr, rt.MaxChain+rt.MaxInlined*len(calls))
	n := rt.ExpandInlined(expanded, append([]uintptr{0}, calls...))
	return slices.DeleteFunc(dict.Locate(expanded[:n]), isPreemption)
}

// isPreemption reports whether a frame is the function to which the runtime's signal sends a goroutine that has run for
// long. The signal of a sample that was waiting, too, is delivered there, before the first instruction: on a busy machine
// a fourth of all samples. What they sampled is its caller.
func isPreemption(f dict.Frame) bool {
	return len(f.Functions) == 1 && f.Functions[0].Name == "runtime.asyncPreempt"
}

func appendNamed(code []dict.Frame, call uintptr) []dict.Frame {
	f := runtime.FuncForPC(call - 1)
	if f == nil {
		return code
	}
	file, line := f.FileLine(call - 1)
	return append(code, dict.Frame{PC: uint64(call) - 1, Functions: []dict.Function{{Name: f.Name(), File: file, Line: int64(line)}}})
}
