package stream

import (
	"errors"
	"fmt"
	"io"
)

// CopyOptions are the choices of [Copy]. The zero value is a good one.
type CopyOptions struct {
	// Memory is the ceiling, in bytes, for what Copy and the tables take; 0 is
	// DefaultMemory. Rows that are too many are spilled to a file; when tables
	// are too large, Copy ends with an [ErrMemory].
	Memory int64
	// Rows is how many bytes of Memory are for rows that wait to be sorted; 0 is
	// a sixteenth. More makes fewer and longer pieces of what is spilled.
	Rows int64
	// SpillDir is where that file is made, if it is needed; "" is os.TempDir.
	// It should not lie in memory.
	SpillDir string
	// Progress, if set, is called now and then, but at least at the end of each
	// phase: done of total bytes were read, or done of total rows written. While
	// reading from a Source that is no Progress, total is 0 and done is rows.
	Progress func(done, total int64, phase string)
}

// DefaultMemory is the default of CopyOptions.Memory.
const DefaultMemory = 256 << 20

// withDefaults fills in what is 0.
func (o CopyOptions) withDefaults() CopyOptions {
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	if o.Rows <= 0 {
		o.Rows = o.Memory / 16
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
//  1. Read: rows are kept by series until src has no more. What does not fit
//     into memory is sorted and spilled.
//  2. Freeze: tables with only what the rows refer to, renumbered by content.
//  3. Write: dst gets the tables, then series by series the rows, sorted.
//
// What dst is given depends on the events alone, not on the order or the ids
// in which they came. A Source that is an [io.Closer] is closed, also after an
// error. An error says what was being done; it wraps that of src
// or dst. dst is not closed after an error.
func Copy(dst Sink, src Source, o CopyOptions) error {
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	o = o.withDefaults()
	s := newSorter(o.Rows, o.SpillDir)
	defer s.close()
	r := reader{sorter: s, ceiling: ceiling{o.Memory, src.Tables()}, meter: meter{report: o.Progress, phase: PhaseReading}}
	if err := r.read(src); err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	tables, outputs, err := settle(s, src.Tables())
	if err != nil {
		return fmt.Errorf("preparing tables: %w", err)
	}
	if err := dst.Begin(tables); err != nil {
		return fmt.Errorf("beginning the output: %w", err)
	}
	w := writer{sorter: s, dst: dst, merger: merger{arena: &s.arena, spill: &s.spill, memory: s.memory},
		meter: meter{report: o.Progress, phase: PhaseWriting, total: s.total}}
	for _, out := range outputs {
		if err := w.write(out); err != nil {
			return fmt.Errorf("writing %v of process %d: %w", out.series.Kind, out.series.Process, err)
		}
	}
	w.meter.finish()
	if err := dst.Close(); err != nil {
		return fmt.Errorf("finishing the output: %w", err)
	}
	return nil
}

// reader takes rows from a source.
type reader struct {
	sorter  *sorter
	ceiling ceiling
	meter   meter
}

// read takes all rows of src.
func (r *reader) read(src Source) error {
	progress, _ := src.(Progress)
	var b Batch
	for {
		if err := src.Next(&b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if err := r.sorter.add(&b); err != nil {
			return err
		}
		done, total := r.sorter.total, int64(0)
		if progress != nil {
			done, total = progress.Progress()
		}
		r.meter.to(done, total)
		if err := r.ceiling.check(done, total); err != nil {
			return err
		}
	}
	r.meter.finish()
	return r.sorter.spill.flush()
}

// writer gives series to a sink.
type writer struct {
	sorter  *sorter
	merger  merger
	dst     Sink
	meter   meter
	written int64 // rows
	segment Batch
}

// write gives the sink all segments of one series.
func (w *writer) write(out output) error {
	w.segment.Reset(out.series, out.args)
	runs, err := w.sorter.narrow(&w.merger, out.runs, &w.segment)
	if err != nil {
		return err
	}
	w.merger.start(runs)
	for {
		w.segment.Reset(out.series, out.args)
		if err := w.merger.next(&w.segment); err != nil || w.segment.Len() == 0 {
			return err
		}
		for i, id := range w.segment.Stack {
			w.segment.Stack[i] = out.stacks[id]
		}
		if err := w.dst.Segment(&w.segment); err != nil {
			return err
		}
		w.written += int64(w.segment.Len())
		w.meter.to(w.written, w.meter.total)
	}
}
