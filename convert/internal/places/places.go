// Package places says where stacks are in a program's own code: what its authors know, rather than the library
// that it calls.
package places

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"gprof/stream"
	"gprof/stream/gonames"
)

// Place is where a stack is in the program's own code.
type Place struct {
	Function string // innermost one that is not of Go's library; "" if there is none
	File     string // base name
	Line     int32
	Via      string // what it called of Go's library, "" nothing
	Caller   string // if Function is of another module: the innermost function of the program's main module
	Leaf     string // innermost function
	Root     string // outermost function: where the goroutine began
	Reason   string // of a wait: lock, network, ...; else ""
}

// String is the function and its line, for people.
func (p Place) String() string {
	name := cmp.Or(p.Function, p.Via, p.Leaf, "(no stack)")
	if p.File != "" && p.Function != "" {
		name += " (" + p.File + ":" + strconv.Itoa(int(p.Line)) + ")"
	}
	if p.Caller != "" {
		name += ", called by " + p.Caller
	}
	return name
}

// Waiting is what places of waits are told apart by: not the line, which differs within a function.
func (p Place) Waiting() Place {
	p.Line, p.Leaf = 0, ""
	return p
}

// Code is what places of work are told apart by: whatever it calls and wherever it was begun.
func (p Place) Code() Place {
	if p.Function == "" {
		return Place{Leaf: p.Leaf}
	}
	return Place{Function: p.Function, File: p.File, Caller: p.Caller}
}

// waitingPrefix begins the label that says why a goroutine waits.
const waitingPrefix = "waiting: "

// recorderPackage is the recorder's own, whose goroutines are not the program's.
const recorderPackage = "gprof/recorder"

// Of returns the place of a stack in a program of a main module.
func Of(t *stream.Tables, module string, stack stream.StackID) (p Place) {
	for stack != 0 {
		parent, id := t.Stacks.At(stack)
		f := t.Frames.At(id)
		name := t.Strings.At(f.Function)
		stack = parent
		switch reason, waiting := strings.CutPrefix(name, waitingPrefix); {
		case f.Label && waiting:
			p.Reason = reason
			continue
		case f.Label || name == "":
			continue
		}
		p.see(t, f, name)
		if p.Caller == "" && inModule(name, module) {
			p.Caller = name
		}
	}
	if p.Caller == p.Root || inModule(p.Function, module) {
		p.Caller = ""
	}
	return p
}

// inModule reports whether a function is of a program's main module.
func inModule(function, module string) bool {
	rest, ok := strings.CutPrefix(function, module)
	return strings.HasPrefix(function, "main.") || ok && module != "" && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/"))
}

// extended are the packages that Go's authors keep beside its library: what they do is on behalf of their
// callers as well.
const extended = "golang.org/x/"

// see takes a frame of a stack, from the innermost one on.
func (p *Place) see(t *stream.Tables, f stream.Frame, name string) {
	if p.Leaf == "" {
		p.Leaf = name
	}
	category := gonames.Category(name).Name
	own := category == "Program" && !strings.HasPrefix(name, extended)
	switch {
	case p.Function == "" && own:
		p.Function, p.Line = name, f.Line
		if f.File != 0 {
			p.File = path.Base(t.Strings.At(f.File))
		}
	case p.Function == "" && (category == "Standard library" || category == "Program"):
		p.Via = name // the outermost one below the program's own
	}
	if !strings.HasPrefix(name, "runtime.") || p.Root == "" {
		p.Root = name
	}
}

// OfRecorder reports whether the place is in the recorder.
func (p Place) OfRecorder() bool {
	return strings.HasPrefix(p.Function, recorderPackage) || strings.HasPrefix(p.Root, recorderPackage)
}

// Frames calls each with the functions of a stack, the innermost first, until it returns false.
func Frames(t *stream.Tables, stack stream.StackID, each func(function string) bool) {
	for stack != 0 {
		parent, id := t.Stacks.At(stack)
		if !each(t.Strings.At(t.Frames.At(id).Function)) {
			return
		}
		stack = parent
	}
}
