package stream

import (
	"errors"
	"fmt"
	"io"
)

// CopyOptions are the options of [Copy]. The zero value is a good choice.
type CopyOptions struct {
	// Memory is the ceiling, in bytes, for what Copy and the tables take; 0 is
	// DefaultMemory. Rows that are too many are spilled to a file; when tables
	// are too large, Copy ends with an [ErrMemory].
	Memory int64
	// Outputs is the number of formats that dst writes at the same time, each of which
	// takes memory beside the tables; 0 is 1.
	Outputs int
	// Rows is how many bytes of Memory are for rows that wait to be sorted; 0 is a 32nd.
	// With more, fewer and longer runs are spilled.
	Rows int64
	// SpillDir is where the spill file is made, if there must be one; "" is os.TempDir.
	// It should not be in memory.
	SpillDir string
	// Jobs is the number of cores that may be used; 0 is 1. The sink gets the same for
	// any number, on the goroutine that called Copy.
	Jobs int
	// Once says that the Source's tables are not used again: most of them are dropped when the
	// final ones are made.
	Once bool
	// Progress, if not nil, is called now and then, and at the end of each phase, by one
	// goroutine at a time: done of total bytes were read, or done of total rows written. While
	// the size of a Source is unknown, total is 0 and done counts rows.
	Progress func(done, total int64, phase string)
}

// DefaultMemory is the default of CopyOptions.Memory.
const DefaultMemory = 256 << 20

// rowsShare is the part of Memory for rows: 1/rowsShare.
const rowsShare = 32

// withDefaults replaces zeros by defaults.
func (o CopyOptions) withDefaults() CopyOptions {
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	if o.Rows <= 0 {
		o.Rows = o.Memory / rowsShare
	}
	return o
}

// The phases of a Copy, as its Progress function is told.
const (
	PhaseReading = "reading"
	PhaseWriting = "writing"
)

// Copy moves all events of src to dst.
//
//  1. Read: rows are encoded, series by series, as sorted runs. Those that do not fit
//     into memory are spilled.
//  2. Freeze: final tables are made of the rows that are referred to, renumbered by content.
//  3. Write: dst gets the tables, then series by series the rows, merged from their runs.
//
// The calls of dst depend on the events alone, not on the order or the ids in which they
// came. If the Source is an [io.Closer] it is closed, also after an error. An error says
// what was being done and wraps that of src or dst. dst is not closed after an error.
func Copy(dst Sink, src Source, o CopyOptions) error {
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	s := NewSorter(o)
	defer s.Close()
	s.tables = src.Tables()
	s.summing = summingFor(dst, src.Tables(), sumsShare*s.options.Rows)
	r := reader{sorter: s, ceiling: newCeiling(s.options.Memory, o.Outputs, src.Tables()), meter: meter{report: o.Progress, phase: PhaseReading}}
	if err := r.read(src); err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	return s.WriteTo(dst, src.Tables())
}

// WriteTo writes all rows to a Sink, with the rows of the tables that they refer to. It
// is called once.
func (s *Sorter) WriteTo(dst Sink, t *Tables) error {
	o := s.options
	tables, outputs, ids, err := settle(s, t)
	if err != nil {
		return fmt.Errorf("preparing tables: %w", err)
	}
	tables.settle(o, t)
	var sums *Sums
	if s.summing.of != nil {
		sums = s.summing.settle(outputs, ids)
	}
	next := newSegments(s, outputs, ids).next
	if o.Jobs > 1 { // the next ones are prepared while the sink works
		a := startAhead(next)
		defer a.stop()
		next = a.next
	}
	if err := dst.Begin(tables); err != nil {
		return fmt.Errorf("beginning the output: %w", err)
	}
	if sums != nil {
		if err := s.summing.of.Sums(sums); err != nil {
			return fmt.Errorf("summing up: %w", err)
		}
	}
	w := writer{dst: dst, meter: meter{report: o.Progress, phase: PhaseWriting, total: s.kept}}
	if err := w.write(next); err != nil {
		return err
	}
	if err := dst.Close(); err != nil {
		return fmt.Errorf("finishing the output: %w", err)
	}
	return nil
}

// reader takes rows from a source.
type reader struct {
	sorter  *Sorter
	ceiling ceiling
	meter   meter
}

// checkRows is after how many rows it is looked how far reading has come: batches may be of a few rows each.
const checkRows = 1 << 10

// read takes all rows of src.
func (r *reader) read(src Source) error {
	progress, _ := src.(Progress)
	err := Spread(src, func() Taker { return &readTaker{adder: r.sorter.adder(), of: r, progress: progress, rows: checkRows} })
	if err != nil {
		return err
	}
	if err := r.advance(progress); err != nil {
		return err
	}
	r.meter.finish()
	return r.ceiling.verdict(1, 1)
}

// readTaker adds rows, and notes now and then how far reading has come.
type readTaker struct {
	adder    *adder
	of       *reader
	progress Progress
	rows     int // since then
}

// Take implements [Taker].
func (t *readTaker) Take(b *Batch) error { return t.added(b.Len(), t.adder.add(b)) }

// TakeMixture implements [Taker].
func (t *readTaker) TakeMixture(m Mixture) error { return t.added(checkRows, t.adder.addMixture(m)) }

func (t *readTaker) added(rows int, err error) error {
	if t.rows += rows; err != nil || t.rows < checkRows {
		return err
	}
	t.rows = 0
	return t.of.advance(t.progress)
}

// advance notes how far reading has come.
func (r *reader) advance(progress Progress) error {
	r.sorter.mu.Lock()
	defer r.sorter.mu.Unlock()
	done, total := r.sorter.total, int64(0)
	if progress != nil {
		if bytes, all := progress.Progress(); all > 0 {
			done, total = bytes, all
		}
	}
	r.meter.to(done, total)
	return r.ceiling.check(done, total)
}

// Progress is reported after each 256th of the whole, but not more often than each
// minStep bytes or rows, which take about a tenth of a second or less.
const (
	reports = 256
	minStep = 1 << 18
)

// meter reports progress now and then. It has no clock, so that how often it reports
// depends on the input alone.
type meter struct {
	report      func(done, total int64, phase string)
	phase       string
	done, total int64
	last        int64 // done as reported
}

// to notes that done of total is done.
func (m *meter) to(done, total int64) {
	m.done, m.total = done, total
	if m.report != nil && done-m.last >= max(total/reports, minStep) {
		m.last = done
		m.report(done, total, m.phase)
	}
}

// finish reports the end of the phase.
func (m *meter) finish() {
	if m.report != nil {
		m.report(m.done, max(m.done, m.total), m.phase)
	}
}

// writer gives segments to a sink.
type writer struct {
	dst     Sink
	meter   meter
	written int64 // rows
}

// write gives the sink all segments.
func (w *writer) write(next func(*Batch) error) error {
	var b Batch
	for {
		if err := next(&b); errors.Is(err, io.EOF) {
			w.meter.finish()
			return nil
		} else if err != nil {
			return fmt.Errorf("sorting %v %w", b.Series.Kind, err)
		}
		if err := w.dst.Segment(&b); err != nil {
			return fmt.Errorf("writing %v of process %d: %w", b.Series.Kind, b.Series.Process, err)
		}
		w.written += int64(b.Len())
		w.meter.to(w.written, w.meter.total)
	}
}
