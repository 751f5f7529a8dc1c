// Package modules lists the code that is mapped into this process.
package modules

// Module is an executable mapping of a file, or of the kernel's code.
type Module struct {
	Path, Build        string // Build is the build id
	Start, End, Offset uint64
}

// Code is where a function lies in memory.
type Code struct {
	Name       string
	Start, End uint64
}
