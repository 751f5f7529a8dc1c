package stream

import (
	"fmt"
	"io"
)

// CopyOptions are the choices of [Copy]. The zero value is a good one.
type CopyOptions struct {
	// Memory is the ceiling, in bytes, for what Copy and the tables take; 0 is
	// DefaultMemory. Rows that are too many are spilled to a file; when tables
	// are too large, Copy ends with an [ErrMemory].
	Memory int64
	// Outputs is how many formats dst writes at once, each of which takes memory
	// of its own beside the tables; 0 is 1.
	Outputs int
	// Rows is how many bytes of Memory are for rows that wait to be sorted; 0 is
	// a 32nd. More makes fewer and longer pieces of what is spilled.
	Rows int64
	// SpillDir is where that file is made, if it is needed; "" is os.TempDir.
	// It should not lie in memory.
	SpillDir string
	// Jobs is how many cores may be used; 0 is 1. The sink is given the same for
	// any number, by the goroutine that called Copy.
	Jobs int
	// Progress, if set, is called now and then, but at least at the end of each
	// phase: done of total bytes were read, or done of total rows written. While
	// reading from a Source that does not know its size, total is 0 and done is rows.
	Progress func(done, total int64, phase string)
}

// DefaultMemory is the default of CopyOptions.Memory.
const DefaultMemory = 256 << 20

// rowsShare is which part of Memory is for rows: 1/rowsShare.
const rowsShare = 32

// withDefaults fills in what is 0.
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
//  1. Read: rows are encoded, series by series, as runs that are in order. What
//     does not fit into memory is spilled.
//  2. Freeze: tables with only what the rows refer to, renumbered by content.
//  3. Write: dst gets the tables, then series by series the rows, their runs
//     merged.
//
// What dst is given depends on the events alone, not on the order or the ids
// in which they came. A Source that is an [io.Closer] is closed, also after an
// error. An error says what was being done; it wraps that of src or dst. dst is
// not closed after an error.
func Copy(dst Sink, src Source, o CopyOptions) error {
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	s := NewSorter(o)
	defer s.Close()
	r := reader{sorter: s, ceiling: newCeiling(s.options.Memory, o.Outputs, src.Tables()), meter: meter{report: o.Progress, phase: PhaseReading}}
	if err := r.read(src); err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	return s.WriteTo(dst, src.Tables())
}

// WriteTo writes all rows to a Sink, and of the tables t what they refer to. It is called
// once.
func (s *Sorter) WriteTo(dst Sink, t *Tables) error {
	o := s.options
	tables, outputs, ids, err := settle(s, t)
	if err != nil {
		return fmt.Errorf("preparing tables: %w", err)
	}
	tables.settle(o.Memory, t)
	if err := dst.Begin(tables); err != nil {
		return fmt.Errorf("beginning the output: %w", err)
	}
	w := writer{dst: dst, meter: meter{report: o.Progress, phase: PhaseWriting, total: s.total}}
	if err := w.write(newSegments(s, outputs, ids), o.Jobs); err != nil {
		return err
	}
	if err := dst.Close(); err != nil {
		return fmt.Errorf("finishing the output: %w", err)
	}
	return nil
}
