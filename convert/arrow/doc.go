// Package arrow writes the tables of a run as Arrow IPC files, for pandas, polars,
// DuckDB and other programs that map or read them. Package convert/internal/tables
// specifies the tables.
//
// # Files
//
// A new directory holds the tables of one run, each in one file, whatever
// services and days it is of:
//
//	<table>.arrow         one of each table, also if it has no rows
//	typed_markers/<event>.arrow the markers of one event that has fields
//	_gprof.json           the version of the tables
//	queries/*.sql         questions to ask, in the SQL of most engines
//	queries/<engine>/*.sql questions in the words of one engine
//	queries/engines/*.sql what makes files into tables, for each engine; DuckDB needs its extension nanoarrow
//
// So one call gives one table: pandas.read_feather("samples.arrow"),
// polars.scan_ipc("samples.arrow"). In the names of files, events are written as
// package convert/parquet writes them.
//
// The files are of the kind with a footer (Feather 2), not streams: who reads
// one may begin anywhere and in parallel. A record batch has about 65,536 rows,
// written as they come, so that memory stays flat.
//
// # Columns
//
// Integers are Int64 and Int32, decimals Float64, texts Utf8, keys
// FixedSizeBinary(16), lists List. A file can hold one dictionary for each column,
// known before the first row: the session has one, and so have what markers, counters
// and measurements are called, with the smallest integers that do as indices.
// Times are Int64, not timestamps, which many tools round. Only what may be
// unknown is nullable. Buffers are compressed with zstd or LZ4 (frames), or not
// at all, and then a file can be mapped and used as it lies.
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
