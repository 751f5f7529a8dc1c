package tables

import (
	"errors"
	"fmt"
	"strings"
)

// Options are the choices of a format.
type Options struct {
	Compression Compression
	Elsewhere   Elsewhere // what to leave out
	// Among says that the run is one among others in a data set that [Prepare]
	// began, and by which name it is known there: its sessions are never called as
	// those of another name, and a table without rows gets no file.
	Among string
}

// Compression is how the columns in files are.
type Compression uint8

const (
	Zstd Compression = iota // smallest
	LZ4                     // read fastest of what is compressed
	None                    // as it is, so that a file can be mapped
)

// ErrCompression is the error of a name that is no compression's.
var ErrCompression = errors.New("unknown compression")

var compressions = [...]string{Zstd: "zstd", LZ4: "lz4", None: "none"}

// ParseCompression returns the compression of that name; "" is [Zstd]. The error
// is [ErrCompression].
func ParseCompression(name string) (Compression, error) {
	if name == "" {
		return Zstd, nil
	}
	for c, known := range compressions {
		if name == known {
			return Compression(c), nil
		}
	}
	return 0, fmt.Errorf("%w: %q, want %s", ErrCompression, name, strings.Join(compressions[:], ", "))
}
