package stream

import (
	"fmt"
	"slices"
	"sync"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

const (
	// openRunBytes is about how much memory a run takes while it is read: bytes read
	// ahead and a decoded block.
	openRunBytes = 64 << 10

	// maxGrowing is how many runs of a series may grow at a time. A series has as many as
	// there are writers that its rows come from.
	maxGrowing = 64
)

// Sorter takes rows in any order and writes them to a Sink as Copy does, of which it is
// the middle part. It is for rows that come from no Source, such as a part of those that
// a Sink gets.
//
//  1. A batch is cut into stretches that are in order: mostly one, or a few if the rows
//     are of several writers. If the stretches would be short, the batch is sorted
//     first.
//  2. A stretch is encoded, to a third of its size, as the next blocks of a run that
//     ends before it; if there is none it begins a run.
//     A short batch that follows no others is kept loose, as it came.
//  3. When there are too many blocks in memory, all of them are spilled, run by run. Those of short runs, and
//     loose ones that are many, are sorted before.
//  4. When all rows are there, a series with loose rows is sorted as a whole, or, if it is long, its
//     loose rows become runs.
type Sorter struct {
	options CopyOptions
	memory  int64 // for rows, in bytes
	series  []*seriesRuns
	index   map[Series]*seriesRuns
	near    []*seriesRuns // some of them, by hash; a power of two
	stacks  []bool        // in use, by provisional id
	labels  []bool        // likewise
	total   int64         // rows
	kept    int64         // of them, those that were not only summed up
	// goroutines has the kinds of rows whose goroutine is known, by bit.
	goroutines uint16
	cpu        bool // some row has CPU time

	summing summing

	store   *runs.Store
	encoder pack.Encoder
	block   []byte
	parts   []runs.Run // scratch
	tidier  *tidier

	own adder      // of Add
	mu  sync.Mutex // all of the above, while there are several adders
}

// seriesRuns is the rows of one series. Its ids are provisional as long as rows are added.
type seriesRuns struct {
	series Series
	args   int // columns
	runs   []runs.Run
	only   [1]runs.Run // memory of runs: most series have no more
	loose  []runs.Run  // of rows in no order: none or one, and more where several series become one
	size   amount      // of all rows, as they came
	tally  Tally       // only for a Summer
}

// NewSorter returns a Sorter without rows. It must be closed.
func NewSorter(o CopyOptions) *Sorter {
	o = o.withDefaults()
	s := newSorter(o.Rows, o.SpillDir)
	s.options = o
	return s
}

func newSorter(memory int64, dir string) *Sorter {
	s := &Sorter{memory: memory, index: make(map[Series]*seriesRuns), store: runs.NewStore(dir)}
	s.own.to, s.tidier = s, newTidier(s.store, memory)
	return s
}

// Close deletes the spill file.
func (s *Sorter) Close() { s.store.Close() }

// forget frees what only Add needs.
func (s *Sorter) forget() {
	s.series, s.index, s.near, s.stacks, s.labels, s.own = nil, nil, nil, nil, nil, adder{}
}

// Add takes the rows of b, which it may reorder.
func (s *Sorter) Add(b *Batch) error { return s.own.add(b) }

// blockLen is how many of the rows from to to-1 of b go into the next block.
func blockLen(b *Batch, from, to int) int {
	room := room{rows: blockRows, bytes: blockArgs}
	return room.take(b, from, to)
}

// runsOf returns the runs of b's series. The map takes several times as long as near.
func (s *Sorter) runsOf(b *Batch) *seriesRuns {
	if len(s.near) <= len(s.series) {
		s.near = make([]*seriesRuns, max(64, 2*len(s.near)))
	}
	near := &s.near[b.Series.hash()&uint32(len(s.near)-1)]
	if *near != nil && (*near).series == b.Series {
		return *near
	}
	r := s.index[b.Series]
	if r == nil {
		r = &seriesRuns{series: b.Series, args: len(b.Args)}
		r.runs = r.only[:0]
		s.index[b.Series] = r
		s.series = append(s.series, r)
	}
	*near = r
	return r
}

// runFor returns the run that the rows from first to last continue.
func (s *Sorter) runFor(r *seriesRuns, first, last runs.Key) *runs.Run {
	to := r.before(first)
	if to == nil {
		r.runs = append(r.runs, runs.Run{First: first})
		s.store.CountRun()
		to = &r.runs[len(r.runs)-1]
	}
	to.Extend(first, last)
	return to
}

// others reports whether there are any rows.
func (r *seriesRuns) others() bool { return len(r.runs) > 0 || len(r.loose) > 0 }

// before returns, of the runs that may still grow and end before a key, the one that ends
// last, or nil.
func (r *seriesRuns) before(key runs.Key) *runs.Run {
	var best *runs.Run
	for i := max(0, len(r.runs)-maxGrowing); i < len(r.runs); i++ {
		if end := r.runs[i].Last; end.Less(key) && (best == nil || best.Last.Less(end)) {
			best = &r.runs[i]
		}
	}
	return best
}

// markStacks notes that these stacks are in use.
func (s *Sorter) markStacks(ids []StackID) error {
	stacks := s.stacks
	for _, id := range ids {
		if uint(id) >= uint(len(stacks)) {
			if id < 0 {
				return undefined("stack", int32(id), len(stacks))
			}
			stacks = append(stacks, make([]bool, int(id)+1-len(stacks))...)
			s.stacks = stacks
		}
		stacks[id] = true
	}
	return nil
}

// held appends the part of each run that is in memory, and returns the size of all in bytes.
func (r *seriesRuns) held(parts []runs.Run) (with []runs.Run, size int64) {
	for i := range r.runs {
		if part, n := r.runs[i].Held(); n > 0 {
			parts, size = append(parts, part), size+n
		}
	}
	return parts, size
}

// width is how many runs may be open at once.
func (s *Sorter) width() int { return max(2, int(s.memory/openRunBytes)) }

// narrow merges runs until no more of them overlap than may be open at once. Each round
// merges all rows once, or only as many as necessary.
func (s *Sorter) narrow(m *runMerger, parts []runs.Run, like *Batch) ([]runs.Run, error) {
	width := s.width()
	for len(parts) > width && runs.Overlap(parts) > width {
		var merged []runs.Run
		for len(merged)+len(parts) > width && len(parts) > 1 {
			n := min(width, len(parts), len(merged)+len(parts)-width+1)
			one := runs.Run{First: parts[0].First}
			if err := s.merge(m, parts[:n], like, &one); err != nil {
				return nil, err
			}
			merged, parts = append(merged, one), parts[n:]
		}
		parts = append(merged, parts...)
	}
	return parts, nil
}

// merge appends the rows of several runs to one in the file.
func (s *Sorter) merge(m *runMerger, parts []runs.Run, like *Batch, to *runs.Run) error {
	begin := s.store.Begin()
	for m.start(parts); ; {
		like.Reset(like.Series, len(like.Args))
		if err := m.next(like); err != nil {
			return err
		}
		if like.Len() == 0 {
			return s.store.End(to, begin)
		}
		to.Last = like.key(like.Len() - 1)
		if err := s.spillRows(like); err != nil {
			return err
		}
	}
}

// spillRows writes the rows of b to the file.
func (s *Sorter) spillRows(b *Batch) error {
	for from := 0; from < b.Len(); {
		n := blockLen(b, from, b.Len())
		s.block = appendBlock(s.block[:0], &s.encoder, b, from, from+n)
		if err := s.store.Write(s.block); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// markLabels notes that these labels are in use.
func (s *Sorter) markLabels(ids []LabelsID) error {
	for _, id := range ids {
		if id < 0 {
			return fmt.Errorf("%w: labels %d", ErrUndefined, id)
		}
		if int(id) >= len(s.labels) {
			s.labels = slices.Grow(s.labels, int(id)+1-len(s.labels))[:int(id)+1]
		}
		s.labels[id] = true
	}
	return nil
}
