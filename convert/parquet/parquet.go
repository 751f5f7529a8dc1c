package parquet

import (
	"io"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/uncompressed"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"gprof/convert/internal/tables"
	"gprof/stream"
)

// Extension is that of the files.
const Extension = ".parquet"

// maxOpen bounds the memory of tables that are open at a time: an open one takes
// some 200 KB.
const maxOpen = 512

// New returns a Sink that writes into dir, where tables of other runs may be.
func New(dir tables.Directory, o tables.Options) stream.Sink {
	codec, cells := codecOf(o.Compression), new([]pq.Value)
	return tables.New(dir, tables.Format{
		Extension: Extension,
		MaxOpen:   maxOpen,
		Begin: func(file io.Writer, d *tables.Definition, many int) tables.Writer {
			return newWriter(file, d, codec, pageSize(many), cells)
		},
	}, o)
}

// codecOf makes what the files of one sink compress with.
func codecOf(c tables.Compression) compress.Codec {
	switch c {
	case tables.None:
		return new(uncompressed.Codec)
	case tables.LZ4:
		return &lz4.Codec{Level: lz4.Fastest}
	}
	return &zstd.Codec{Level: zstd.SpeedFastest}
}
