//go:build !linux

package recorder

// mappedModules lists nothing: frames then are bare addresses with names.
func mappedModules(func(start, end uint64) bool) []module { return nil }
