package rt

// Route is how assembly gets from a running goroutine's g to the number of its
// processor: the offset of m in a g, and of p in an m. The number is the first word
// of a p. The zero route is none.
type Route struct{ M, P uintptr }
