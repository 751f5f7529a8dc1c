package recorder

// module is an executable mapping of a file.
type module struct {
	path, build        string
	start, end, offset uint64
}

// codeRange is where a function lies in memory.
type codeRange struct {
	name       string
	start, end uint64
}
