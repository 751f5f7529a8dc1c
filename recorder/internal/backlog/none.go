//go:build !linux || !(amd64 || arm64) || gprof_portable || go1.28

package backlog

import (
	"errors"
	"runtime"
)

// Backlog can't be read here.
type Backlog struct{}

// Find fails.
func (*Backlog) Find([]runtime.MemProfileRecord) error { return errors.ErrUnsupported }

// Add does nothing.
func (*Backlog) Add([]runtime.MemProfileRecord) bool { return false }
