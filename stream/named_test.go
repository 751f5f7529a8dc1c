package stream

import "testing"

// named are tables of two processes: stacks through an address without a name, and through the
// functions that somebody else names there.
func named(build string) (t *Tables, without, with StackID) {
	t = &Tables{Processes: make([]Process, 2)}
	program := t.Modules.Intern(Module{Build: build, Name: "program"})
	frame := func(offset uint64, depth int32, name string) FrameID {
		return t.Frames.Intern(Frame{Module: program, Offset: offset, Depth: depth, Function: t.Strings.Intern(name)})
	}
	root := t.Stacks.Intern(0, frame(1, 0, "main"))
	bare := t.Frames.Intern(Frame{Module: program, Offset: 2})
	leaf := frame(3, 0, "leaf")
	without = t.Stacks.Intern(t.Stacks.Intern(root, bare), leaf)
	with = t.Stacks.Intern(t.Stacks.Intern(t.Stacks.Intern(root, frame(2, 0, "outer")), frame(2, 1, "inlined")), leaf)
	return t, without, with
}

// Code of a build that one process has no name for gets the functions that another one names at
// the address, so that the stacks are one.
func TestNameStacks(t *testing.T) {
	tables, without, with := named("b")
	instead := nameStacks(tables)
	if instead == nil || instead[without] != with || instead[with] != with {
		t.Errorf("stack %d is replaced by %v, want %d", without, instead, with)
	}
	live := make([]bool, without+1)
	live[without] = true
	if all := replaced(live, instead); len(all) <= int(with) || !all[with] || all[without] {
		t.Errorf("in use: %v", all)
	}
	for name, change := range map[string]func(*Tables){
		"one process": func(t *Tables) { t.Processes = t.Processes[:1] },
		"named in two ways": func(t *Tables) {
			t.Frames.Intern(Frame{Module: 1, Offset: 2, Function: t.Strings.Intern("other")})
		},
	} {
		if tables, _, _ = named("b"); true {
			change(tables)
		}
		if nameStacks(tables) != nil {
			t.Errorf("%s: stacks are replaced", name)
		}
	}
	if tables, _, _ = named(""); nameStacks(tables) != nil {
		t.Error("stacks of files of unknown build are replaced")
	}
	if tables, _, _ = named("b"); true { // a function is inlined into one that nobody names
		tables.Frames.Intern(Frame{Module: 1, Offset: 9})
		tables.Frames.Intern(Frame{Module: 1, Offset: 9, Depth: 1, Function: 1})
	}
	if chains := chainsOf(tables); len(chains) != 1 {
		t.Errorf("%d frames are named", len(chains))
	}
}
