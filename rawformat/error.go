package rawformat

import (
	"errors"
	"fmt"
)

// Classes of damage, for errors.Is.
var (
	ErrMagic     = errors.New("not a gprof file")
	ErrVersion   = errors.New("unknown format version")
	ErrHeader    = errors.New("header damaged")
	ErrTruncated = errors.New("cut short")
	ErrOverflow  = errors.New("integer overflows 64 bits")
	ErrTooBig    = errors.New("length over the limit")
	ErrChecksum  = errors.New("checksum differs")
	ErrKind      = errors.New("unknown kind")
	ErrSyntax    = errors.New("syntax error")
)

// Error says where in the bytes something is wrong. Every error of this
// package that concerns bytes is one.
type Error struct {
	Off  int64  // absolute offset of the first invalid byte
	What string // the field or structure that was being read
	Err  error  // one of the classes above
}

func (e *Error) Error() string {
	return fmt.Sprintf("offset %d: %s: %v", e.Off, e.What, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
