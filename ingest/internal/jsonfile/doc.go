// Package jsonfile reads a JSON file in place.
//
// A profile is one JSON value of any size, in which what comes first refers to what comes last. So
// it is not held in memory: [Index] scans the file once for the offsets of its objects and lists,
// and a [Scanner] then reads any of them from there, repeatedly. JSON libraries want a value as a
// whole in memory (bytedance/sonic, encoding/json), or from its beginning.
//
// The file is not trusted. A value longer than maxText and nesting deeper than maxDepth are
// errors. Skipped values are only checked for brackets and quotes.
//
// An error is a [*damage.Error] with the offset, and wraps its class, ErrSyntax, ErrDepth, or what
// the reader below returned.
package jsonfile

import (
	"errors"
	"fmt"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/extent"
)

const (
	// maxText bounds a value that is read as a whole, such as a string or a marker's payload:
	// screenshots are up to a megabyte.
	maxText = 32 << 20
	// maxDepth bounds the nesting of skipped values.
	maxDepth = extent.MaxDepth
	// window is how much of the file is read at once, firstWindow at first.
	window      = 64 << 10
	firstWindow = 4 << 10
)

// Errors of a file, besides those of package damage.
var (
	ErrSyntax = errors.New("no JSON")
	ErrDepth  = fmt.Errorf("values are nested deeper than %d", maxDepth)
)

var (
	errTorn   = fmt.Errorf("%w: it ends in the middle of a value", damage.ErrTorn)
	errTooBig = fmt.Errorf("%w: a value of more than %d MiB", damage.ErrTooBig, maxText>>20)
)
