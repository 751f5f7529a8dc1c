// Package parquet writes the tables of a run as Parquet files, for DuckDB, Spark,
// pandas and other readers. Package convert/internal/tables specifies the tables.
//
// # Files
//
// A directory holds the tables of any number of runs:
//
//	<table>/service=S/date=D/<session>.parquet
//	typed_markers/event=E/service=S/date=D/<session>.parquet
//	_gprof.json           the version of the tables
//	queries/*.sql         questions to ask, in the SQL of most engines
//	queries/<engine>/*.sql questions in the words of one engine
//	queries/python/*.py   modules that ask by libraries of Python
//	queries/engines/*.sql what makes files into tables, for each engine
//
// A session is the processes of one run of the converter that are of one service
// and began on one UTC day; its name depends on what is in it. Each table has one
// file for each session, also if it has no rows, but not in a data set that was
// begun for many runs. One of more than 512 that get rows at a time goes on in a
// file <session>-2.parquet, and so on. Readers take S, D and E as
// columns (Hive); a process without a service counts under its name. Their values are
// such that all readers see the same. Characters that file systems, patterns or some
// readers take for something else (~ % / \ = : * ? " ' < > | { } [ ] # ^ $ & ; ! `,
// control characters) are escaped as ~ and two hexadecimal digits, and so is the first
// character of a value that looks like a number or is hidden: gc sweep is gc sweep, a/b
// is a~2Fb. A value too long for a file name is cut and has its hash behind a ~. The name
// of an event as it is stands in the column name, that of a service in service_name of
// processes. A process without either is of the service unknown, and a day that isn't
// known is 1970-01-01.
//
// # Columns
//
// Integers are INT64 and INT32, decimals DOUBLE, texts STRING, keys
// FIXED_LEN_BYTE_ARRAY(16), lists the LIST of three levels. Numbers near the one
// before are DELTA_BINARY_PACKED, texts that repeat have a dictionary. Goroutines,
// threads and fields of markers have the one or the other, by the first rows of a
// file. Times and positions are not compressed, which would be in vain. The files
// say by which columns they are sorted; row groups have at most 131,072 rows, so
// that their statistics tell most of them apart by track and time.
package parquet

import (
	"io"

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
	codec, crew := codecOf(o.Compression), newCrew(o.Jobs)
	return tables.New(dir, tables.Format{
		Extension: Extension,
		MaxOpen:   maxOpen,
		Begin: func(file io.Writer, d *tables.Definition, many int) tables.Writer {
			return newWriter(file, d, codec, pageSize(many), crew)
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
