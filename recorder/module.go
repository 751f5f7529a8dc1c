package recorder

// module is an executable mapping of a file.
type module struct {
	path, build        string
	start, end, offset uint64
}
