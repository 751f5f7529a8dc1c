package stream

import (
	"fmt"
	"math"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

const (
	// looseRows is the number of rows up to which a batch that follows no others is kept as it came, to be sorted with
	// many more. Merging such short runs costs more than sorting all their rows.
	looseRows = 128

	// looseBytes is how many bytes of loose rows in memory are sorted before they are spilled: others stay loose.
	looseBytes = 64 << 10

	// Before they are spilled, runs of a series in memory are sorted anew if there are more than manyRuns, or if they
	// are shorter than shortRun on average.
	manyRuns = maxGrowing
	shortRun = 1 << 10

	// Of less than sortedRows rows and sortedBytes bytes, all are sorted at a time.
	sortedRows  = 32 << 10
	sortedBytes = 512 << 10

	// looseAhead is how many bytes of the file are read at a time.
	looseAhead = 32 << 10
)

// amount is how many rows there are, and how many bytes of blocks; saturated.
type amount struct{ rows, bytes int32 }

func (a *amount) add(rows, bytes int) {
	a.rows = int32(min(int64(a.rows)+int64(rows), math.MaxInt32))
	a.bytes = int32(min(int64(a.bytes)+int64(bytes), math.MaxInt32))
}

// tidier sorts rows of a series, of which it reads parts.
type tidier struct {
	blocks runs.Reader
	most   int32 // bytes at a time
	rows   Batch
	size   amount // of the rows
	order  batchSorter
}

func newTidier(s *runs.Store, memory int64) *tidier {
	return &tidier{blocks: s.NewReader(), most: int32(min(sortedBytes, memory/4))}
}

// begin forgets all rows. Those that follow are of the series of like.
func (t *tidier) begin(like *Batch) {
	t.rows.Reset(like.Series, len(like.Args))
	t.size = amount{}
}

// few reports whether rows are few enough to be sorted at once.
func (t *tidier) few(a amount) bool { return a.rows < sortedRows && a.bytes < t.most }

// read reads the rows of a part. It calls full, if that is not nil, when there are as many as are sorted at a time.
func (t *tidier) read(part *runs.Run, full func() error) error {
	for t.blocks.Reset(part, looseAhead); ; {
		before := t.rows.Len()
		block, err := t.blocks.Next()
		if err == nil && block != nil {
			err = readBlock(&t.rows, block)
		}
		if err != nil {
			return fmt.Errorf("reading spilled rows: %w", err)
		}
		if block == nil {
			return nil
		}
		t.size.add(t.rows.Len()-before, len(block))
		if full == nil || t.few(t.size) {
			continue
		}
		if err := full(); err != nil {
			return err
		}
	}
}

// sort sorts the rows unless they are in order.
func (t *tidier) sort() {
	t.rows.DropZeros()
	if t.rows.ascent(0) < t.rows.Len() {
		t.order.sort(&t.rows)
	}
}

// take adds the rows of the group that r is at. It calls full as read does.
func (t *tidier) take(r *mixedReader, full func() error) error {
	from := t.rows.Len()
	r.appendTo(&t.rows)
	to := t.rows.Len()
	return t.took(to-from, t.rows.allArgBytes(from, to), full)
}

// takeSamples adds samples. It calls full as read does.
func (t *tidier) takeSamples(rows []pack.Row, full func() error) error {
	t.rows.appendPacked(rows)
	return t.took(len(rows), 0, full)
}

// took notes that so many rows were added, with so many bytes of arguments.
func (t *tidier) took(rows, args int, full func() error) error {
	if t.size.add(rows, rows*packedRow+args); full == nil || t.few(t.size) {
		return nil
	}
	return full()
}

// readAll reads the rows of parts. It calls full as read does.
func (t *tidier) readAll(parts []runs.Run, full func() error) error {
	for i := range parts {
		if err := t.read(&parts[i], full); err != nil {
			return err
		}
	}
	return nil
}

// write writes the rows that feed adds to the tidier to the file, sorted, as the ends of the runs that place returns. These
// have no rows in memory.
func (s *Sorter) write(like *Batch, feed func(full func() error) error, place func(first, last runs.Key) *runs.Run) error {
	t := s.tidier
	t.begin(like)
	flush := func() error {
		if t.rows.Len() == 0 {
			return nil
		}
		t.sort()
		begin := s.store.Begin()
		if err := s.spillRows(&t.rows); err != nil {
			return err
		}
		err := s.store.End(place(t.rows.key(0), t.rows.key(t.rows.Len()-1)), begin)
		t.begin(like)
		return err
	}
	if err := feed(flush); err != nil {
		return err
	}
	return flush()
}

// spill moves all blocks that are in memory to the file.
func (s *Sorter) spill() error {
	for _, r := range s.holding {
		if r.own == nil {
			continue
		}
		if err := s.spillSeries(r); err != nil {
			return err
		}
		r.holds = false
	}
	s.holding = s.holding[:0]
	for _, of := range s.mixed {
		for _, r := range of.runs {
			if err := s.store.Spill(r); err != nil {
				return err
			}
		}
	}
	s.store.Empty()
	return nil
}

func (s *Sorter) spillSeries(of *seriesRuns) error {
	r := of.own
	s.parts = r.untidy(s.parts[:0])
	for i := range r.runs {
		if err := s.store.Spill(&r.runs[i]); err != nil {
			return err
		}
	}
	if len(s.parts) > 0 {
		var like Batch
		like.Reset(of.series, int(of.args))
		feed := func(full func() error) error { return s.tidier.readAll(s.parts, full) }
		if err := s.write(&like, feed, func(first, last runs.Key) *runs.Run { return s.runFor(r, first, last) }); err != nil {
			return err
		}
	}
	for i := range r.loose {
		if err := s.store.Spill(&r.loose[i]); err != nil {
			return err
		}
	}
	return nil
}

// untidy takes away the parts in memory that are to be sorted before they are spilled, and appends them.
func (r *ownRuns) untidy(parts []runs.Run) []runs.Run {
	parts, size := r.held(parts)
	if n := len(parts); n <= 1 || n <= manyRuns && size >= shortRun*int64(n) {
		parts = parts[:0]
	} else {
		r.runs = runs.DropHeld(r.runs)
	}
	for i := range r.loose {
		if part, n := r.loose[i].Held(); n >= looseBytes {
			parts = append(parts, part)
			r.loose[i].Drop()
		}
	}
	return parts
}
