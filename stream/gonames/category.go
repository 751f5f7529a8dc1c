// Package gonames tells what the names of Go functions say of them: to what
// part of a program a function belongs, and what goroutines that begin in it
// are called.
package gonames

import (
	"strings"

	"gprof/stream"
)

// Native is the category of code that is not Go.
var Native = stream.Category{Name: "Native", Color: "lightblue"}

// Categories of Go functions.
var (
	program = stream.Category{Name: "Program", Color: "blue"}
	library = stream.Category{Name: "Standard library", Color: "green"}
	runtime = stream.Category{Name: "Go runtime", Color: "orange"}
	garbage = stream.Category{Name: "Garbage collection", Color: "red"}
)

// runtimeParts sorts functions of the runtime by how their names begin; the first
// that fits counts.
var runtimeParts = []struct {
	stream.Category
	prefixes []string
}{
	{part(garbage, "Sweep"), []string{"sweep", "bgsweep", "(*sweepLocked)", "(*mspan).sweep"}},
	{part(garbage, "Scavenge"), []string{"bgscavenge", "(*scavenge"}},
	{part(garbage, "Write barrier"), []string{"gcWriteBarrier", "wb"}},
	{part(garbage, "Assist"), []string{"gcAssist"}},
	{garbage, []string{"gc", "scan", "markroot", "greyobject", "(*gcWork)", "(*gcBits)"}},
	{part(runtime, "Memory"), []string{"malloc", "newobject", "makeslice", "growslice", "nextFree", "memclr", "(*mcache)", "(*mcentral)", "(*mheap)", "(*pageAlloc)"}},
	{part(runtime, "Scheduler"), []string{"schedule", "findRunnable", "mcall", "park_m", "gopark", "goready", "ready", "gosched", "goschedImpl", "execute", "runq", "wakep", "startm", "stopm", "mPark", "steal", "resetspinning", "newproc", "goexit0", "sysmon", "retake", "netpoll"}},
	{part(runtime, "Locks"), []string{"futex", "note", "lock", "unlock", "sem", "(*mutex)"}},
	{part(runtime, "Channels"), []string{"chan", "selectgo", "selectnb", "send", "recv", "closechan"}},
	{part(runtime, "System calls"), []string{"entersyscall", "exitsyscall", "reentersyscall", "cgocall", "asmcgocall"}},
	{part(runtime, "Maps"), []string{"map"}},
	{part(runtime, "Stacks"), []string{"morestack", "newstack", "copystack", "adjust", "stackalloc", "stackfree"}},
}

func part(c stream.Category, name string) stream.Category {
	c.Sub = name
	return c
}

// runtimeCategory sorts a function of package runtime by its name there.
func runtimeCategory(name string) stream.Category {
	for _, p := range runtimeParts {
		for _, prefix := range p.prefixes {
			if strings.HasPrefix(name, prefix) {
				return p.Category
			}
		}
	}
	return runtime
}

// Category sorts a Go function by its package: the first element of an
// import path has a dot in it unless it is the standard library's or main.
func Category(function string) stream.Category {
	if rest, ok := strings.CutPrefix(function, "runtime."); ok {
		return runtimeCategory(rest)
	}
	first, _, path := strings.Cut(function, "/")
	switch {
	case strings.HasPrefix(function, "main."), path && strings.Contains(first, "."):
		return program
	case strings.HasPrefix(function, "internal/runtime/maps."):
		return part(runtime, "Maps")
	case strings.HasPrefix(function, "internal/runtime/"), strings.HasPrefix(function, "runtime/internal/"):
		return runtime
	case !strings.Contains(function, "."):
		return Native // C, or an assembly label
	case standard[packageRoot(function)]:
		return library
	}
	return program
}

// packageRoot is the first element of the import path of a function.
func packageRoot(function string) string {
	if i := strings.IndexAny(function, "/."); i >= 0 {
		return function[:i]
	}
	return function
}

// standard holds the top-level names of Go's standard library. A module without
// a dot in its name (as in many private repositories) is a program of its own.
var standard = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`archive bufio bytes cmp compress container context crypto database debug
		embed encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path
		plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak`) {
		m[name] = true
	}
	return m
}()

// UnknownRoot is the track of goroutines of which nobody knows where they began.
const UnknownRoot = "unknown root"

// Root names the track of goroutines by the two outermost functions of a stack,
// either of which may be "". runtime.main only calls main.main; what else begins
// in the runtime is its own work, on a goroutine of its own or on a scheduler's
// stack.
func Root(root, next string) string {
	switch {
	case root == "":
		return UnknownRoot
	case root == "runtime.main" && next != "", root == "runtime.goexit" && next != "":
		return next
	case strings.HasPrefix(root, "runtime.gcBgMark"):
		return "Go garbage collector"
	case strings.HasPrefix(root, "runtime.") && root != "runtime.main":
		return "Go runtime"
	}
	return root
}
