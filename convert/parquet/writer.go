package parquet

import (
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

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
	file    *behind
	begin   func(first []tables.Values) *pq.GenericWriter[any]
	out     *pq.GenericWriter[any] // nil before the first rows
	leaves  []*pq.ColumnWriter
	crew    crew
	queues  []queue // of the columns
	errs    []error // likewise, the first of each, once nothing is open
	open    sync.WaitGroup
	left    atomic.Int32 // of what is open
	leads   []int        // columns that rows are sorted by before time: process, track or counter
	lead    [4]int32     // of the last rows
	rows    int          // of the row group
	bytes   int          // of texts and lists in the row group
}

func newWriter(file io.Writer, d *tables.Definition, codec compress.Codec, page int, crew crew) *writer {
	var order []pq.SortingColumn
	for _, column := range d.Sorted {
		order = append(order, pq.Ascending(column))
	}
	to := &behind{file: file, size: page, alone: crew.alone()}
	begin := func(first []tables.Values) *pq.GenericWriter[any] {
		return pq.NewGenericWriter[any](to,
			pq.NewSchema(d.Name, schemaOf(d.Columns, first)),
			pq.Compression(codec),
			pq.PageBufferSize(page),
			pq.WriteBufferSize(0),
			pq.DataPageStatistics(false), // the index of pages has them
			pq.CreatedBy("gprof", "1.0.0", "0"),
			pq.KeyValueMetadata(tables.VersionKey, tables.Version),
			pq.SortingWriterConfig(pq.SortingColumns(order...)),
		)
	}
	return &writer{columns: d.Columns, file: to, begin: begin, crew: crew, queues: make([]queue, len(d.Columns)), errs: make([]error, len(d.Columns)), leads: leadsOf(d)}
}

// start begins the file with its first rows; there may be none.
func (w *writer) start(first []tables.Values) {
	if w.out == nil {
		w.out = w.begin(first)
		w.leaves = w.out.ColumnWriters()
	}
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
func (w *writer) Write(columns []tables.Values, done func()) error {
	w.start(columns)
	if turns := w.turns(columns); turns && w.rows >= leadGroup || w.rows+columns[0].Rows > rowGroup || w.bytes > groupBytes {
		if err := w.Cut(); err != nil {
			done()
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
	w.each(columns[0].Rows < fewRows, done, func(i int, scratch *[]pq.Value) error {
		if c := &w.columns[i]; c.Null && !isList(c) && !slices.Contains(columns[i].Known, true) {
			return w.skip(i, columns[i].Rows)
		}
		*scratch = cells((*scratch)[:0], &columns[i], place{&w.columns[i], i})
		_, err := w.leaves[i].WriteRowValues(*scratch)
		return err
	})
	return nil
}

// fewRows are so few that it is not worth a goroutine to write them.
const fewRows = 1024

// each does something with all columns, each on its turn, and then calls done. It is not for the goroutine of the caller
// unless there is no other, or it is little and nothing is before it.
func (w *writer) each(little bool, done func(), do func(column int, cells *[]pq.Value) error) {
	column := func(i int, cells *[]pq.Value) {
		if w.errs[i] == nil {
			w.errs[i] = do(i, cells)
		}
	}
	if w.crew.alone() || little && w.left.Load() == 0 {
		for i := range w.columns {
			w.crew.do(func(cells *[]pq.Value) { column(i, cells) })
		}
		done()
		return
	}
	w.open.Add(1)
	w.left.Add(1)
	columns := new(atomic.Int32)
	for i := range w.columns {
		w.queues[i].add(w.crew, func(cells *[]pq.Value) {
			if column(i, cells); int(columns.Add(1)) == len(w.columns) {
				done()
				w.left.Add(-1)
				w.open.Done()
			}
		})
	}
}

// settle waits until all columns have all rows in pages. It returns the error of the first of those that failed.
func (w *writer) settle() error {
	w.each(w.rows < fewRows, func() {}, func(i int, _ *[]pq.Value) error { return w.leaves[i].Flush() })
	w.open.Wait()
	for _, err := range w.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// unknown are cells without values.
var unknown [1024]pq.Value

// skip writes a column of which no value is known, as are most that few events have.
func (w *writer) skip(column, rows int) error {
	for rows > 0 {
		n := min(rows, len(unknown))
		if _, err := w.leaves[column].WriteRowValues(unknown[:n]); err != nil {
			return err
		}
		rows -= n
	}
	return nil
}

// Waiting implements [tables.Writer].
func (w *writer) Waiting() int { return w.rows<<4 + w.bytes }

// Cut implements [tables.Writer]: it ends the row group.
func (w *writer) Cut() error {
	if w.out == nil {
		return nil
	}
	if err := w.settle(); err != nil {
		return err
	}
	w.rows, w.bytes = 0, 0
	return w.out.Flush()
}

// Close implements [tables.Writer].
func (w *writer) Close() error {
	w.start(make([]tables.Values, len(w.columns)))
	if err := w.settle(); err != nil {
		return err
	}
	return errors.Join(w.out.Close(), w.file.flush())
}
