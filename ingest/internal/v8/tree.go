// Package v8 makes rows of the CPU profiles that V8 takes, in whatever file they are: a tree of calls,
// and samples that each name a node of it.
package v8

import (
	"math"
	"strings"
	"unsafe"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// The categories of functions, as Firefox calls them.
var (
	javaScript = stream.Category{Name: "JavaScript", Color: "yellow"}
	wasm       = stream.Category{Name: "WebAssembly", Color: "lightred"}
	collecting = stream.Category{Name: "GC / CC", Color: "orange"}
	idling     = stream.Category{Name: "Idle", Color: "transparent"}
	native     = stream.Category{Name: "Native", Color: "blue"}
)

// special are functions that stand for something else.
type special uint8

const (
	ordinary  special = iota
	root              // of the tree
	idle              // the thread had nothing to do
	program           // native code
	collector         // of garbage
)

var specials = map[string]special{"(root)": root, "(idle)": idle, "(program)": program, "(garbage collector)": collector}

// CallFrame is the function of a node.
type CallFrame struct {
	Function, URL string
	Start, Column int32 // where it begins, from 1; 0 unknown
	Line          int32 // of the samples, from 1, if they have one in common; else 0
}

// Read sets c from the members that say so of an object in a profile; base is the number of the first
// line and column there. It reports whether it is intact.
func (c *CallFrame) Read(raw []byte, base int64) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	s := jsonfile.Bytes(raw, 0)
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return s.Err() == nil
		}
		c.Take(string(key), s.Raw(), base)
	}
}

// Take sets what a member says, if it is one that says anything.
func (c *CallFrame) Take(key string, value []byte, base int64) {
	switch key {
	case "functionName":
		c.Function = string(jsonfile.AppendText(nil, value))
	case "url":
		c.URL = string(jsonfile.AppendText(nil, value))
	case "lineNumber":
		c.Start = placeOf(value, base)
	case "columnNumber":
		c.Column = placeOf(value, base)
	}
}

// placeOf is a line or column from 1, 0 if it is unknown.
func placeOf(value []byte, base int64) int32 {
	n, ok := jsonfile.Int(value)
	if n = n - base + 1; !ok || n < 1 || n > math.MaxInt32 {
		return 0
	}
	return int32(n)
}

// Tree is the calls of a profile. Its nodes may come in any order.
type Tree struct {
	tables *stream.Tables
	number map[int64]int32 // by id: place in nodes
	nodes  []node
	odd    int64 // nodes that are their own callers
}

// node is a call.
type node struct {
	parent int32 // place in nodes, -1 none
	frame  stream.FrameID
	stack  stream.StackID // once it is known
	state  state
	kind   special
	known  bool // there was a definition
}

type state uint8

const (
	unknown state = iota
	walked        // its callers are being looked up
	done
)

// NodeBytes is about what a node takes in memory.
const NodeBytes = int64(unsafe.Sizeof(node{}))*5/4 + 32

// NewTree returns a tree whose frames are in t, which must be locked when it is used.
func NewTree(t *stream.Tables) *Tree { return &Tree{tables: t, number: map[int64]int32{}} }

// Len is the number of nodes.
func (t *Tree) Len() int { return len(t.nodes) }

// at is the place of a node, which is made if it is new.
func (t *Tree) at(id int64) int32 {
	n, ok := t.number[id]
	if !ok {
		n = int32(len(t.nodes))
		t.number[id] = n
		t.nodes = append(t.nodes, node{parent: -1})
	}
	return n
}

// Define says which function a node is a call of. It reports whether it is the first to say so.
func (t *Tree) Define(id int64, c CallFrame) bool {
	n := &t.nodes[t.at(id)]
	if n.known {
		return false
	}
	n.known = true
	n.kind, n.frame = t.frame(c)
	return true
}

// Call says that a node is called by another one.
func (t *Tree) Call(parent, id int64) {
	caller := t.at(parent)
	n := &t.nodes[t.at(id)]
	if n.parent < 0 {
		n.parent = caller
	}
}

// frame is the row of a function.
func (t *Tree) frame(c CallFrame) (special, stream.FrameID) {
	kind := ordinary
	if c.URL == "" {
		kind = specials[c.Function]
	}
	f := stream.Frame{Function: t.tables.Strings.Intern(c.Function)}
	switch kind {
	case root:
		return kind, 0
	case idle, program, collector:
		f.Label, f.Category = true, t.tables.Categories.Intern([]stream.Category{idle: idling, program: native, collector: collecting}[kind])
		return kind, t.tables.Frames.Intern(f)
	}
	f.Script, f.Scripted = true, true
	f.Start, f.StartColumn, f.Line = c.Start, c.Column, c.Line
	f.File = t.tables.Strings.Intern(c.URL)
	f.Category = t.tables.Categories.Intern(categoryOf(c.URL))
	if c.Function == "" {
		f.Function = t.tables.Strings.Intern("(anonymous)")
	}
	return kind, t.tables.Frames.Intern(f)
}

func categoryOf(url string) stream.Category {
	if strings.HasPrefix(url, "wasm://") {
		return wasm
	}
	return javaScript
}

// stack is that of a node, and what the node stands for. It is not ok if nothing defines the node.
func (t *Tree) stack(id int64) (stack stream.StackID, kind special, ok bool) {
	at, ok := t.number[id]
	if !ok || !t.nodes[at].known {
		return 0, ordinary, false
	}
	if t.nodes[at].state != done {
		t.walk(at)
	}
	return t.nodes[at].stack, t.nodes[at].kind, true
}

// walk finds the stack of a node and of all its callers.
func (t *Tree) walk(at int32) {
	var path []int32
	for at >= 0 && t.nodes[at].state == unknown {
		t.nodes[at].state = walked
		path = append(path, at)
		at = t.nodes[at].parent
	}
	caller := stream.StackID(0)
	switch {
	case at < 0:
	case t.nodes[at].state == done:
		caller = t.nodes[at].stack
	default:
		t.odd++ // a ring: it is cut where it was entered
	}
	for i := len(path) - 1; i >= 0; i-- {
		n := &t.nodes[path[i]]
		if n.frame != 0 {
			caller = t.tables.Stacks.Intern(caller, n.frame)
		}
		n.stack, n.state = caller, done
	}
}

// inLine is a stack whose innermost function is at a place.
func (t *Tree) inLine(stack stream.StackID, line, column int32) stream.StackID {
	caller, id := t.tables.Stacks.At(stack)
	f := t.tables.Frames.At(id)
	f.Line, f.Column = line, column
	return t.tables.Stacks.Intern(caller, t.tables.Frames.Intern(f))
}
