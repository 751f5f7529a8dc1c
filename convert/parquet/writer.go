package parquet

import (
	"io"
	"slices"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"gprof/convert/internal/tables"
)

const (
	// rowGroup bounds the rows of a row group: the buffer in memory, and what statistics let a
	// reader skip.
	rowGroup = 131_072
	// leadGroup is the least number of rows of a row group that ends before another track, so that
	// its statistics tell times of one track apart.
	leadGroup = rowGroup / 4
	// groupBytes ends a row group of long texts early.
	groupBytes = 16 << 20
	// pageBytes is the size of a page of a column, before it is compressed, and
	// minPageBytes that of one where there are many tables: see pageSize.
	pageBytes, minPageBytes = 256 << 10, 2 << 10
)

// pageSize is the page size if that many tables may be open at once: each of some ten columns has a
// buffer of that size.
func pageSize(tables int) int {
	const all = 32 << 20
	return min(max(all/10/max(tables, 1), minPageBytes), pageBytes)
}

// writer writes one table.
type writer struct {
	columns []tables.Column
	out     *pq.GenericWriter[any]
	leaves  []*pq.ColumnWriter
	crew    crew
	leads   []int    // columns that rows are sorted by before time: process, track or counter
	lead    [4]int32 // of the last rows
	rows    int      // of the row group
	bytes   int      // of texts and lists in the row group
}

func newWriter(file io.Writer, d *tables.Definition, codec compress.Codec, page int, crew crew) *writer {
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
	return &writer{columns: d.Columns, out: out, leaves: out.ColumnWriters(), crew: crew, leads: leadsOf(d)}
}

// leadsOf are the columns that rows are sorted by before time.
func leadsOf(d *tables.Definition) (leads []int) {
	for i, c := range d.Columns {
		if slices.Contains(d.Sorted, c.Name) && c.Kind == tables.Short {
			leads = append(leads, i)
		}
	}
	return leads
}

// turns reports whether rows begin another track, or counter.
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
	}
	return w.crew.each(len(columns), columns[0].Rows, func(i int, scratch *[]pq.Value) error {
		*scratch = cells((*scratch)[:0], &columns[i], place{&w.columns[i], i})
		_, err := w.leaves[i].WriteRowValues(*scratch)
		return err
	})
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
