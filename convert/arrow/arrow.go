package arrow

import (
	"io"

	"gprof/convert/internal/tables"
	"gprof/stream"
)

// Extension is that of the files.
const Extension = ".arrow"

// New returns a Sink that writes into dir, which is to be empty.
func New(dir tables.Directory, o tables.Options) stream.Sink {
	return tables.New(dir, tables.Format{
		Extension: Extension,
		OneFile:   true,
		Begin: func(file io.Writer, d *tables.Definition, _ int) tables.Writer {
			return newWriter(file, d, o.Compression)
		},
	}, o)
}
