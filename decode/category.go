package decode

import (
	"strings"

	"gprof/stream"
)

// Categories of frames that no one gave one.
var (
	native   = stream.Category{Name: "Native", Color: "lightblue"}
	program  = stream.Category{Name: "Program", Color: "blue"}
	library  = stream.Category{Name: "Standard library", Color: "green"}
	runtime  = stream.Category{Name: "Go runtime", Color: "orange"}
	garbage  = stream.Category{Name: "Garbage collection", Color: "red"}
	gcPrefix = []string{"gc", "scan", "sweep", "bgsweep", "bgscavenge", "markroot", "greyobject", "wb", "(*gcWork)", "(*gcBits)", "(*sweepLocked)", "(*mspan).sweep"}
)

// functionCategory sorts a Go function by its package: the first element of an
// import path has a dot in it unless it is the standard library's or main.
func functionCategory(function string) stream.Category {
	if rest, ok := strings.CutPrefix(function, "runtime."); ok {
		for _, p := range gcPrefix {
			if strings.HasPrefix(rest, p) {
				return garbage
			}
		}
		return runtime
	}
	first, _, path := strings.Cut(function, "/")
	switch {
	case strings.HasPrefix(function, "main."), path && strings.Contains(first, "."):
		return program
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
