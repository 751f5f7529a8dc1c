package calls

import (
	"fmt"
	"strconv"
	"strings"

	"gprof/stream"
)

// NoStack is the name of what samples without a stack are in.
const NoStack = "(no stack)"

// Names interns the names that frames are summed up by: by Key, from NoStack on.
type Names struct {
	All []string // by Key
	ids map[string]Key
}

// NewNames returns Names of NoStack alone.
func NewNames() *Names { return &Names{All: []string{NoStack}, ids: map[string]Key{NoStack: 0}} }

// Keys returns the key of each frame of t, by FrameID, and their names. Frames
// of one name have one key.
func Keys(t *stream.Tables, name func(*stream.Tables, stream.Frame) string) ([]Key, *Names) {
	names := NewNames()
	keys := make([]Key, t.Frames.Len()+1)
	for id := 1; id <= t.Frames.Len(); id++ {
		keys[id] = names.Intern(name(t, t.Frames.At(stream.FrameID(id))))
	}
	return keys, names
}

// Intern returns the key of a name.
func (n *Names) Intern(name string) Key {
	key, ok := n.ids[name]
	if !ok {
		key = Key(len(n.All))
		n.ids[name] = key
		n.All = append(n.All, name)
	}
	return key
}

// Function is the name of a frame's function; one without a name is its place
// in its module.
func Function(t *stream.Tables, f stream.Frame) string {
	if f.Function == 0 {
		return fmt.Sprintf("%s+0x%x", module(t, f), f.Offset)
	}
	return t.Strings.At(f.Function)
}

// SameFunction is Function as it is in another build of the program, too: places
// differ there, so those of a module are one.
func SameFunction(t *stream.Tables, f stream.Frame) string {
	if f.Function == 0 {
		return module(t, f) + " (no name)"
	}
	return t.Strings.At(f.Function)
}

// Module is the base name of the file that a frame's code is from.
func Module(t *stream.Tables, f stream.Frame) string { return orNone(module(t, f), "module") }

func module(t *stream.Tables, f stream.Frame) string {
	if f.Module == 0 {
		return ""
	}
	return t.Modules.At(f.Module).Name
}

// Package is that of a Go function, as "net/http" of "net/http.(*conn).serve";
// of others it is the module. Labels of the program have none.
func Package(t *stream.Tables, f stream.Frame) string {
	if f.Label {
		return "(label)"
	}
	head, _, _ := strings.Cut(t.Strings.At(f.Function), "[") // type arguments and receivers have dots of their own
	head, _, _ = strings.Cut(head, "(")
	slash := strings.LastIndexByte(head, '/') + 1
	if dot := strings.IndexByte(head[slash:], '.'); dot > 0 {
		return head[:slash+dot]
	}
	return Module(t, f)
}

// File is the source file of a frame.
func File(t *stream.Tables, f stream.Frame) string { return orNone(t.Strings.At(f.File), "file") }

// Line is the place of a frame in its source file, and the function there.
func Line(t *stream.Tables, f stream.Frame) string {
	if f.File == 0 || f.Line <= 0 {
		return Function(t, f)
	}
	return File(t, f) + ":" + strconv.Itoa(int(f.Line)) + " " + Function(t, f)
}

// Category is the name of a frame's category.
func Category(t *stream.Tables, f stream.Frame) string {
	if f.Category == 0 {
		return stream.Other.Name
	}
	return t.Categories.At(f.Category).Name
}

func orNone(name, what string) string {
	if name == "" {
		return "(no " + what + ")"
	}
	return name
}
