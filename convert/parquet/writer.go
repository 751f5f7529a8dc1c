package parquet

import (
	"io"
	"slices"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"gprof/convert/internal/tables"
)

const (
	// rowGroup is how many rows a row group has at most: the window of memory,
	// and what statistics let a reader skip.
	rowGroup = 131_072
	// leadGroup is how many rows a row group has at least if it ends where another
	// track begins: then its statistics are of one track, and so tell times apart.
	leadGroup = rowGroup / 4
	// groupBytes ends a row group of long texts earlier.
	groupBytes = 16 << 20
	// pageBytes is the size of a page of a column, before it is compressed, and
	// minPageBytes that of one where there are many tables: see pageSize.
	pageBytes, minPageBytes = 64 << 10, 2 << 10
)

// pageSize is how large pages are if that many tables may be open at a time:
// each of some ten columns of an open one has a buffer of that size.
func pageSize(tables int) int {
	const all = 32 << 20
	return min(max(all/10/max(tables, 1), minPageBytes), pageBytes)
}

// writer writes one table.
type writer struct {
	columns []tables.Column
	out     *pq.GenericWriter[any]
	leaves  []*pq.ColumnWriter
	cells   *[]pq.Value // scratch of all tables, which take turns
	leads   []int       // columns that rows are sorted by before time: process, track or counter
	lead    [4]int32    // what they were in the last rows
	rows    int         // of the row group
	bytes   int         // of texts and lists in the row group
}

func newWriter(file io.Writer, d *tables.Definition, codec compress.Codec, page int, cells *[]pq.Value) *writer {
	var order []pq.SortingColumn
	for _, column := range d.Sorted {
		order = append(order, pq.Ascending(column))
	}
	out := pq.NewGenericWriter[any](file,
		pq.NewSchema(d.Name, schemaOf(d.Columns)),
		pq.Compression(codec),
		pq.PageBufferSize(page),
		pq.WriteBufferSize(page),
		pq.DataPageStatistics(false), // the index of pages has them
		pq.CreatedBy("gprof", "1.0.0", "0"),
		pq.KeyValueMetadata(tables.VersionKey, tables.Version),
		pq.SortingWriterConfig(pq.SortingColumns(order...)),
	)
	return &writer{columns: d.Columns, out: out, leaves: out.ColumnWriters(), cells: cells, leads: leadsOf(d)}
}

// leadsOf are the columns by which rows are sorted before their time.
func leadsOf(d *tables.Definition) (leads []int) {
	for i, c := range d.Columns {
		if slices.Contains(d.Sorted, c.Name) && c.Kind == tables.Short {
			leads = append(leads, i)
		}
	}
	return leads
}

// turns reports whether rows are of another track, or another counter, than
// those before.
func (w *writer) turns(columns []tables.Values) bool {
	var lead [4]int32
	for i, column := range w.leads {
		if columns[column].One && i < len(lead) {
			lead[i] = columns[column].Shorts[0]
		}
	}
	before := w.lead
	w.lead = lead
	return lead != before
}

// Write implements [tables.Writer].
func (w *writer) Write(columns []tables.Values) error {
	if turns := w.turns(columns); turns && w.rows >= leadGroup || w.rows+columns[0].Rows > rowGroup || w.bytes > groupBytes {
		if err := w.Cut(); err != nil {
			return err
		}
	}
	w.rows += columns[0].Rows
	for i := range columns {
		if !columns[i].One {
			w.bytes += len(columns[i].Bytes)
		}
		if isList(&w.columns[i]) {
			w.bytes += 4 * len(columns[i].Shorts)
		}
		*w.cells = cells((*w.cells)[:0], &columns[i], place{&w.columns[i], i})
		if _, err := w.leaves[i].WriteRowValues(*w.cells); err != nil {
			return err
		}
	}
	return nil
}

// Waiting implements [tables.Writer].
func (w *writer) Waiting() int { return w.rows<<4 + w.bytes }

// Cut implements [tables.Writer]: it ends the row group.
func (w *writer) Cut() error {
	w.rows, w.bytes = 0, 0
	return w.out.Flush()
}

// Close implements [tables.Writer].
func (w *writer) Close() error { return w.out.Close() }
