//go:build !linux

package recorder

// mappedModules lists nothing: frames then are bare addresses with names.
func mappedModules(func(module) bool) []module { return nil }

func (*module) functions() []codeRange { return nil }
