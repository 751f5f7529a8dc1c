// Package damage has the errors of damaged files of other tools: their class and offset.
package damage

import (
	"errors"
	"fmt"
)

// Classes of damage, which an [Error] wraps.
var (
	ErrTorn    = errors.New("cut short")
	ErrDamaged = errors.New("damaged")
	ErrTooBig  = errors.New("too big") // larger than plausible
)

// Error is an error at an offset of a file in bytes, of its contents if compressed.
type Error struct {
	Off int64
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %v", e.Off, e.Err) }

func (e *Error) Unwrap() error { return e.Err }
