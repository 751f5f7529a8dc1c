package stream

import (
	"sync"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

const (
	// openRunBytes is about how much memory a run takes while it is read: bytes read
	// ahead and a decoded block.
	openRunBytes = 32 << 10

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
//     A short batch that follows no others is kept loose, as it came. If it has only some rows, or is the first of its
//     series, it is mixed with those of other series: thousands of rows become a mixed run, in the order of their series.
//  3. When there are too many blocks in memory, all of them are spilled, run by run. Those of short runs, and
//     loose ones that are many, are sorted before. Of several goroutines that add rows the others go on meanwhile.
//  4. When all rows are there, mixed runs are read beside each other, and deal out the rows of one series after the other.
//     A series with loose or mixed rows is sorted as a whole, or, if it is long, these rows become runs.
type Sorter struct {
	options CopyOptions
	memory  int64         // for rows, in bytes
	series  []*seriesRuns // by number
	holding []*seriesRuns // those with rows of their own in memory
	tracks  []int32       // 1 and the number of the samples of each track; 0: none, or in index
	index   []int32       // 1 and the number of each of the others, by hash; 0: free. A power of two
	indexed int           // how many are there
	spare   []seriesRuns  // memory of the next ones
	few     []int32       // rows of each that came in parts of mixtures, by number; missing: none
	ranking ranking
	tables  *Tables // of the ids in series; nil: they are final
	stacks  []bool  // in use, by provisional id, when all rows are there
	labels  []bool  // likewise
	total   int64   // rows
	kept    int64   // of them, those that were not only summed up
	// goroutines has the kinds of rows whose goroutine is known, by bit.
	goroutines uint16
	cpu        bool // some row has CPU time

	summing summing

	store   *runs.Store
	crowded int64 // bytes of tables for which rows in memory give way to them
	mixed   []mixedRuns
	dealers map[shape]*dealer // of mixed, when all rows are there
	encoder pack.Encoder
	block   []byte
	parts   []runs.Run // scratch
	tidier  *tidier

	adders []*adder // the first is that of Add

	// While there are several adders, storing is held for what is kept of rows: own, holds, holding, ranking, store, mixed,
	// encoder, block, parts and tidier. To spill takes long, so mu, for all else, can be locked meanwhile, and by its holder.
	storing, mu sync.Mutex
}

// seriesRuns is the rows of one series. Its ids are provisional as long as rows are added. There may be very many.
type seriesRuns struct {
	series Series
	number int32
	args   int32    // columns
	size   amount   // without the bytes of own
	own    *ownRuns // of the rows that are not mixed
	mixed  bool     // some rows are in mixed runs
	holds  bool     // some others are in memory
}

// ownRuns is the rows of a series that are not mixed with those of others.
type ownRuns struct {
	runs  []runs.Run
	bytes int64       // of their blocks
	loose []runs.Run  // of rows in no order: none or one, and more where several series become one
	only  [1]runs.Run // memory of runs: most series have no more
}

// NewSorter returns a Sorter without rows. It must be closed.
func NewSorter(o CopyOptions) *Sorter {
	o = o.withDefaults()
	s := newSorter(o.Rows, o.SpillDir)
	s.options = o
	return s
}

func newSorter(memory int64, dir string) *Sorter {
	s := &Sorter{memory: memory, store: runs.NewStore(dir), crowded: crowdedTables}
	s.tidier = newTidier(s.store, memory)
	s.adder()
	return s
}

// Close deletes the spill file.
func (s *Sorter) Close() { s.store.Close() }

// forget frees what only Add needs.
func (s *Sorter) forget() {
	s.series, s.holding, s.tracks, s.index, s.spare, s.stacks, s.labels, s.adders, s.ranking, s.tables = nil, nil, nil, nil, nil, nil, nil, nil, ranking{}, nil
}

// Add takes the rows of b, which it may reorder.
func (s *Sorter) Add(b *Batch) error { return s.adders[0].add(b) }

// nextBlock is those of some rows of b that go into the next block.
func nextBlock(b *Batch, of selection) selection {
	room := room{rows: blockRows, bytes: blockArgs}
	of.to = of.from + room.takeOf(b, &of)
	return of
}

// runsOf returns the runs of a series, new ones if it has none yet.
func (s *Sorter) runsOf(series Series, args int) *seriesRuns {
	slot := s.slotOf(&series)
	if *slot != 0 {
		return s.series[*slot-1]
	}
	if len(s.spare) == 0 {
		s.spare = make([]seriesRuns, seriesAtOnce)
	}
	r := &s.spare[0]
	s.spare = s.spare[1:]
	r.series, r.number, r.args = series, int32(len(s.series)), int32(args)
	s.series = append(s.series, r)
	*slot = r.number + 1
	return r
}

// numberOf returns the number of a series of a mixture, for which few has room. That takes no look at what is known of it,
// which for very many series is far from each other in memory.
func (s *Sorter) numberOf(series Series) int32 {
	number := s.sampled(&series) - 1
	if number < 0 {
		number = s.runsOf(series, 0).number
	}
	if len(s.few) <= int(number) {
		s.few = append(s.few, make([]int32, len(s.series)-len(s.few))...)
	}
	return number
}

// sampled is 1 and the number of a series of samples, if it is found by its track; else 0.
func (s *Sorter) sampled(series *Series) int32 {
	if t := series.Track; series.Kind == Samples && series.Part == 0 && uint(t) < uint(len(s.tracks)) {
		return s.tracks[t]
	}
	return 0
}

// leastTracks is how many tracks are listed by their ids even if only few of them have samples.
const leastTracks = 1 << 16

// slotOf is where the number of a series is, or belongs. Most series are the samples of a track.
func (s *Sorter) slotOf(series *Series) *int32 {
	if at := s.sampled(series); at != 0 && s.series[at-1].series == *series {
		return &s.tracks[series.Track]
	}
	if 2*s.indexed >= len(s.index) {
		s.grow()
	}
	slot := s.slot(series)
	if *slot != 0 {
		return slot
	}
	t := int(series.Track)
	if series.Kind != Samples || series.Part != 0 || t < 0 || t > max(leastTracks, 4*len(s.series)) || s.sampled(series) != 0 {
		s.indexed++
		return slot
	}
	if len(s.tracks) <= t {
		s.tracks = append(s.tracks, make([]int32, t+1-len(s.tracks))...)
	}
	return &s.tracks[t]
}

// grow makes the index larger.
func (s *Sorter) grow() {
	s.index = make([]int32, max(64, 2*len(s.index)))
	for n, r := range s.series {
		if s.sampled(&r.series) != int32(n+1) {
			*s.slot(&r.series) = int32(n + 1)
		}
	}
}

// seriesAtOnce is for how many series memory is taken at a time.
const seriesAtOnce = 64

// slot is where a series is in the index, or belongs.
func (s *Sorter) slot(of *Series) *int32 {
	mask := uint32(len(s.index) - 1)
	for i := of.hash() & mask; ; i = (i + 1) & mask {
		if at := &s.index[i]; *at == 0 || s.series[*at-1].series == *of {
			return at
		}
	}
}

// rank ranks all series.
func (s *Sorter) rank() {
	s.mu.Lock()
	all := s.series
	s.mu.Unlock()
	if len(s.ranking.ranked) == len(all) {
		return
	}
	if s.tables == nil {
		s.ranking.add(all, Series.Compare)
		return
	}
	s.tables.Lock()
	defer s.tables.Unlock()
	s.tables.Tracks.mu.Lock() // once, and not for each comparison
	defer s.tables.Tracks.mu.Unlock()
	s.ranking.add(all, s.tables.compareSeries)
}

// ownRuns returns the runs of r's own, which may be none yet.
func (r *seriesRuns) ownRuns() *ownRuns {
	if r.own == nil {
		r.own = new(ownRuns)
		r.own.runs = r.own.only[:0]
	}
	return r.own
}

// runFor returns the run that the rows from first to last continue.
func (s *Sorter) runFor(r *ownRuns, first, last runs.Key) *runs.Run {
	to := r.before(first)
	if to == nil {
		r.runs = append(r.runs, runs.Run{First: first})
		s.store.CountRun()
		to = &r.runs[len(r.runs)-1]
	}
	to.Extend(first, last)
	return to
}

// before returns, of the runs that may still grow and end before a key, the one that ends
// last, or nil.
func (r *ownRuns) before(key runs.Key) *runs.Run {
	var best *runs.Run
	for i := max(0, len(r.runs)-maxGrowing); i < len(r.runs); i++ {
		if end := r.runs[i].Last; end.Less(key) && (best == nil || best.Last.Less(end)) {
			best = &r.runs[i]
		}
	}
	return best
}

// held appends the part of each run that is in memory, and returns the size of all in bytes.
func (r *ownRuns) held(parts []runs.Run) (with []runs.Run, size int64) {
	for i := range r.runs {
		if part, n := r.runs[i].Held(); n > 0 {
			parts, size = append(parts, part), size+n
		}
	}
	return parts, size
}

// width is how many runs may be open at once. They may take the memory of rows as well, if there are none in it.
func (s *Sorter) width() int {
	memory := s.memory
	if s.store.Used() == 0 {
		memory *= 2
	}
	return max(2, int(memory/openRunBytes))
}

// finish ends adding rows.
func (s *Sorter) finish() error {
	var stacks, labels marks
	for _, a := range s.adders {
		if err := a.store(true); err != nil {
			return err
		}
		for _, m := range a.mixes {
			if err := a.empty(m); err != nil {
				return err
			}
		}
		stacks, labels = a.stacks.addTo(stacks), a.labels.addTo(labels)
		s.goroutines, s.cpu = s.goroutines|a.goroutines, s.cpu || a.cpu
	}
	s.stacks, s.labels = stacks.list(), labels.list()
	for number, rows := range s.few {
		if rows > 0 {
			s.series[number].size.add(int(rows), 0)
			s.series[number].mix(int(rows), 0)
		}
	}
	s.adders, s.few, s.tracks, s.index = nil, nil, nil, nil
	return nil
}

// narrow merges runs until no more of them overlap than may be open at once. Each round
// merges all rows once, or only as many as necessary. Merge appends those of some runs to one.
func narrow(parts []runs.Run, width int, merge func(parts []runs.Run, to *runs.Run) error) ([]runs.Run, error) {
	for len(parts) > width && runs.Overlap(parts) > width {
		var merged []runs.Run
		for len(merged)+len(parts) > width && len(parts) > 1 {
			n := min(width, len(parts), len(merged)+len(parts)-width+1)
			one := runs.Run{First: parts[0].First}
			if err := merge(parts[:n], &one); err != nil {
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
	for left := (selection{to: b.Len()}); left.from < left.to; {
		next := nextBlock(b, left)
		s.block = appendBlock(s.block[:0], &s.encoder, b, next)
		if err := s.store.Write(s.block); err != nil {
			return err
		}
		left.from = next.to
	}
	return nil
}
