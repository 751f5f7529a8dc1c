// Package damage is what is wrong with a file of another tool: where, and of
// which class.
package damage

import (
	"errors"
	"fmt"
)

// Classes of damage, which an [Error] wraps.
var (
	ErrTorn    = errors.New("cut short")
	ErrDamaged = errors.New("damaged")
	ErrTooBig  = errors.New("too big") // what stands there is larger than makes sense
)

// Error is trouble at an offset of a file, in bytes; of a compressed one, of
// what it holds.
type Error struct {
	Off int64
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %v", e.Off, e.Err) }

func (e *Error) Unwrap() error { return e.Err }
