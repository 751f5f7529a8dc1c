//go:build !linux || !(amd64 || arm64) || gprof_portable || go1.28

package backlog

import (
	"errors"
	"runtime"
)

// Backlog can't be read here.
type Backlog struct{}

// Found is false.
func (*Backlog) Found() bool { return false }

// Find fails.
func (*Backlog) Find([]runtime.MemProfileRecord) error { return errors.ErrUnsupported }

// Read finds nothing.
func (*Backlog) Read() ([]Bucket, bool) { return nil, false }

// Bucket can't be read here.
type Bucket struct{}

// Size is unknown.
func (*Bucket) Size() int64 { return 0 }

// Published is unknown.
func (*Bucket) Published() (made, gone int64) { return 0, 0 }

// All is unknown.
func (*Bucket) All() (made, gone int64) { return 0, 0 }

// Stack is unknown.
func (*Bucket) Stack() (pcs [32]uintptr) { return pcs }
