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
// An error is a [*damage.Error]: it says at which byte, and wraps one of its
// classes, ErrSyntax, ErrDepth, or what the reader below returned.
package jsonfile

import (
	"errors"
	"fmt"

	"gprof/ingest/internal/damage"
)

const (
	// MaxText bounds a value that is read as a whole, such as a string or the
	// payload of a marker: screenshots are up to a megabyte.
	MaxText = 32 << 20
	// MaxDepth bounds how deep values are nested in one that is passed over.
	MaxDepth = 1 << 16
	// window is how much of the file is read at once, firstWindow at first.
	window      = 64 << 10
	firstWindow = 4 << 10
)

// What may be wrong with a file, beside what package damage tells.
var (
	ErrSyntax = errors.New("no JSON")
	ErrDepth  = fmt.Errorf("values are nested deeper than %d", MaxDepth)
)

var (
	errTorn   = fmt.Errorf("%w: it ends in the middle of a value", damage.ErrTorn)
	errTooBig = fmt.Errorf("%w: a value of more than %d MiB", damage.ErrTooBig, MaxText>>20)
)
