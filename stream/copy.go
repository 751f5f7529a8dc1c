package stream

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// CopyOptions are the choices of [Copy]. The zero value is a good one.
type CopyOptions struct {
	// Memory is how many bytes of rows are held before they are spilled to a
	// file; 0 is DefaultMemory.
	Memory int64
	// SpillDir is where that file is made, if it is needed; "" is os.TempDir.
	SpillDir string
	// Progress, if set, is called now and then: done of total bytes were read,
	// or done of total rows written. Total is 0 while it is not known; done
	// then counts rows.
	Progress func(done, total int64, phase string)
}

// DefaultMemory is the default of CopyOptions.Memory.
const DefaultMemory = 64 << 20

// The phases of a Copy, as Progress is told.
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
// in which they came. An error says what was being done; it wraps that of src
// or dst. dst is not closed after an error.
func Copy(dst Sink, src Source, o CopyOptions) error {
	s := newSorter(o)
	defer s.close()
	if err := s.read(src); err != nil {
		return err
	}
	tables, ids, err := freeze(src.Tables(), s.names(), s.stacks)
	if err != nil {
		return fmt.Errorf("preparing the tables: %w", err)
	}
	if err := dst.Begin(tables); err != nil {
		return fmt.Errorf("beginning the output: %w", err)
	}
	if err := s.write(dst, ids); err != nil {
		return err
	}
	if err := dst.Close(); err != nil {
		return fmt.Errorf("finishing the output: %w", err)
	}
	return nil
}

// read takes all rows of src.
func (s *sorter) read(src Source) error {
	var b Batch
	for {
		err := src.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = s.add(&b)
		}
		if err != nil {
			return fmt.Errorf("reading events: %w", err)
		}
	}
	return s.finish()
}

// output is one series as the sink sees it. Several series of a source may
// turn out to be the same one.
type output struct {
	series Series
	rows   []*rows
}

// outputs returns the series in the order in which a sink is given them.
func (s *sorter) outputs(ids *renumbering) []output {
	index := make(map[Series]int)
	var out []output
	for _, r := range s.series {
		final := ids.series(r.buffer.Series)
		i, ok := index[final]
		if !ok {
			i = len(out)
			index[final] = i
			out = append(out, output{series: final})
		}
		out[i].rows = append(out[i].rows, r)
	}
	slices.SortFunc(out, func(a, b output) int { return compareSeries(a.series, b.series) })
	return out
}

// compareSeries is the order that Sink.Segment states.
func compareSeries(a, b Series) int {
	return cmp.Or(cmp.Compare(a.Process, b.Process), compareBools(a.Track == 0, b.Track == 0), cmp.Compare(a.Track, b.Track),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Event, b.Event), cmp.Compare(a.Counter, b.Counter))
}
