package arrow

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"gprof/convert/internal/tables"
)

const (
	// batchRows is how many rows a record batch has, about: what a reader gets
	// at a time.
	batchRows = 65_536
	// batchBytes ends a record batch of long texts early.
	batchBytes = 16 << 20
	// smallTable is the size in bytes below which a table is not compressed. There may be thousands
	// of event tables, and the library makes a compressor for each batch, which takes megabytes and
	// most of the time.
	smallTable = 16 << 10
)

// writer writes one table. Rows are buffered up to a record batch.
type writer struct {
	columns      []tables.Column
	dictionaries []*dictionary // of columns that have one
	waiting      []column
	schema       *arrow.Schema
	out          *ipc.FileWriter // nil before the first batch, or the end
	begin        func(compressed bool) *ipc.FileWriter
	rows         int
	bytes        int
}

func newWriter(file io.Writer, d *tables.Definition, compression tables.Compression) *writer {
	dictionaries := make([]*dictionary, len(d.Columns))
	for i := range d.Columns {
		dictionaries[i] = newDictionary(&d.Columns[i])
	}
	schema := schemaOf(d, dictionaries)
	begin := func(compressed bool) *ipc.FileWriter {
		options := []ipc.Option{ipc.WithSchema(schema)}
		switch {
		case !compressed:
		case compression == tables.LZ4:
			options = append(options, ipc.WithLZ4())
		case compression == tables.Zstd:
			options = append(options, ipc.WithZstd())
		}
		out, _ := ipc.NewFileWriter(&positionWriter{w: file}, options...) // its only error is that of Seek
		return out
	}
	w := &writer{columns: d.Columns, dictionaries: dictionaries, waiting: make([]column, len(d.Columns)), schema: schema, begin: begin}
	w.empty()
	return w
}

// need begins the file with its first rows.
func (w *writer) need(compressed bool) {
	if w.out == nil {
		w.out = w.begin(compressed)
	}
}

// empty frees the rows: of many tables, only those in use take memory.
func (w *writer) empty() {
	w.rows, w.bytes = 0, 0
	for i := range w.waiting {
		w.waiting[i] = column{of: w.dictionaries[i]}
	}
}

// Write implements [tables.Writer].
func (w *writer) Write(columns []tables.Values, done func()) error {
	defer done()
	w.rows += columns[0].Rows
	for i := range columns {
		w.bytes += w.waiting[i].add(w.columns[i].Kind, &columns[i])
	}
	if w.rows >= batchRows || w.bytes >= batchBytes {
		return w.Cut()
	}
	return nil
}

// Waiting implements [tables.Writer].
func (w *writer) Waiting() int { return w.bytes }

// Cut implements [tables.Writer]: it ends the record batch.
func (w *writer) Cut() error {
	if w.rows == 0 {
		return nil
	}
	w.need(true)
	arrays := make([]arrow.Array, len(w.columns))
	for i := range w.columns {
		data := w.waiting[i].data(w.schema.Field(i).Type, w.columns[i].Kind, w.rows)
		arrays[i] = array.MakeFromData(data)
	}
	err := w.out.Write(array.NewRecord(w.schema, arrays, int64(w.rows)))
	w.empty()
	return err
}

// Close implements [tables.Writer].
func (w *writer) Close() error {
	w.need(w.bytes >= smallTable)
	if err := w.Cut(); err != nil {
		return err
	}
	return w.out.Close()
}

// positionWriter is a file that can only tell its position.
type positionWriter struct {
	w  io.Writer
	at int64
}

func (c *positionWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.at += int64(n)
	return n, err
}

// Seek implements [io.Seeker] for the current position.
func (c *positionWriter) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, io.ErrNoProgress
	}
	return c.at, nil
}

// schemaOf is the schema of a table.
func schemaOf(d *tables.Definition, dictionaries []*dictionary) *arrow.Schema {
	fields := make([]arrow.Field, len(d.Columns))
	for i, c := range d.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: typeOf(c.Kind), Nullable: c.Null}
		if texts := dictionaries[i]; texts != nil {
			fields[i].Type = &arrow.DictionaryType{IndexType: texts.indexType(), ValueType: fields[i].Type}
		}
	}
	about := arrow.NewMetadata([]string{tables.VersionKey}, []string{tables.Version})
	return arrow.NewSchema(fields, &about)
}

func typeOf(k tables.Kind) arrow.DataType {
	switch k {
	case tables.Long:
		return arrow.PrimitiveTypes.Int64
	case tables.Short:
		return arrow.PrimitiveTypes.Int32
	case tables.Double:
		return arrow.PrimitiveTypes.Float64
	case tables.Flag:
		return arrow.FixedWidthTypes.Boolean
	case tables.Hash, tables.SpanID:
		return &arrow.FixedSizeBinaryType{ByteWidth: k.Size()}
	case tables.IDs:
		return arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)
	case tables.Texts:
		return arrow.ListOfNonNullable(arrow.BinaryTypes.String)
	default:
		return arrow.BinaryTypes.String
	}
}
