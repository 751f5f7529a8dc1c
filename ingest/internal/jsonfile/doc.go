// Package jsonfile reads a JSON file where it lies.
//
// A profile is one JSON value of any size, in which what comes first refers to
// what comes last. So nothing of it is held: [Index] goes through the file once
// and says where its objects and lists are, and a [Scanner] then reads any of
// them from there, as often as one likes. Libraries for JSON want a value as a
// whole, in memory (bytedance/sonic, encoding/json), or from its beginning.
//
// The file is not trusted. A text longer than [MaxText] and brackets deeper than
// [MaxDepth] are errors. Values that are passed over are only checked for their
// brackets and quotes.
//
// An error is an [*Error]: it says at which byte, and wraps one of ErrSyntax,
// ErrTorn, ErrTooBig, ErrDepth, or what the reader below returned.
package jsonfile

import (
	"errors"
	"fmt"
)

const (
	// MaxText bounds a value that is read as a whole, such as a string or the
	// payload of a marker: screenshots are up to a megabyte.
	MaxText = 32 << 20
	// MaxDepth bounds how deep values are nested in one that is passed over.
	MaxDepth = 1 << 16
	// window is how much of the file is read at once.
	window = 64 << 10
)

// What may be wrong with a file.
var (
	ErrSyntax = errors.New("no JSON")
	ErrTorn   = errors.New("ends in the middle of a value")
	ErrTooBig = fmt.Errorf("value is longer than %d MiB", MaxText>>20)
	ErrDepth  = fmt.Errorf("values are nested deeper than %d", MaxDepth)
)

// Error says where a file is not what it should be.
type Error struct {
	Off  int64 // in bytes
	Want string
	Err  error
}

func (e *Error) Error() string {
	if e.Want != "" {
		return fmt.Sprintf("byte %d: %v: want %s", e.Off, e.Err, e.Want)
	}
	return fmt.Sprintf("byte %d: %v", e.Off, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
