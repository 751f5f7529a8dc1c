//go:build !linux

package modules

// Mapped lists nothing: frames then are bare addresses with names.
func Mapped(func(Module) bool) []Module { return nil }

// Functions is nil.
func (*Module) Functions() []Code { return nil }
