// Package onegzip writes gzip files of one member.
//
// Browsers unpack with DecompressionStream, for which bytes behind the first
// member are an error; so tools that write a member for each block don't do.
//
// The same bytes in give the same bytes out, on every machine: the header has
// no time and no name, and says that the system is unknown.
package onegzip

import (
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
)

// DefaultLevel is faster than 1 on rows of numbers, and smaller. (Level 9 of
// this encoder is twenty times slower.)
const DefaultLevel = 2

// Writer compresses what is written to it. Close finishes the file, but does
// not close the writer below.
type Writer struct{ z *gzip.Writer }

// NewWriter returns a Writer to w. Level is 1 to 9, 0 for [DefaultLevel].
func NewWriter(w io.Writer, level int) (*Writer, error) {
	if level == 0 {
		level = DefaultLevel
	}
	if level < gzip.BestSpeed || level > gzip.BestCompression {
		return nil, fmt.Errorf("gzip level %d, want %d to %d", level, gzip.BestSpeed, gzip.BestCompression)
	}
	z, err := gzip.NewWriterLevel(w, level)
	if err != nil {
		return nil, err
	}
	z.OS, z.ModTime = 255, time.Unix(0, 0)
	return &Writer{z}, nil
}

// Write compresses b.
func (w *Writer) Write(b []byte) (int, error) { return w.z.Write(b) }

// Close writes what is left and the trailer.
func (w *Writer) Close() error { return w.z.Close() }
