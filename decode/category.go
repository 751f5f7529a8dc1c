package decode

import (
	"strings"

	"gprof/stream"
)

// Categories of frames that no one gave one.
var (
	native  = stream.Category{Name: "Native", Color: "lightblue"}
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

// functionCategory sorts a Go function by its package: the first element of an
// import path has a dot in it unless it is the standard library's or main.
func functionCategory(function string) stream.Category {
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
		return native // C, or an assembly label
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
