package stream

import (
	"fmt"
	"math"
	"slices"
)

const (
	// openRun is about what reading a run takes: what is read ahead and a
	// decoded block.
	openRun = 64 << 10

	// maxGrowing is how many runs of a series may go on at a time. A series has
	// as many runs as writers it is spread over.
	maxGrowing = 64

	// manyRuns of a series in memory are made one before they are spilled.
	manyRuns = 16
)

// sorter takes rows in any order and gives them back series by series, sorted.
//
//  1. The rows of a batch are sorted, which they mostly are.
//  2. They are encoded, at a third of their size, as the next blocks of a run
//     that ends before they begin; if there is none they begin a run.
//  3. When the blocks in memory are too many, all of them are spilled, run by
//     run.
type sorter struct {
	memory int64 // how many bytes of rows may be held
	series []*rows
	index  map[Series]*rows
	recent *rows
	stacks []bool // in use, by provisional id
	total  int64  // rows

	arena  arena
	spill  spill
	packer packer
	block  []byte
	order  ordering
}

// rows is what has come of one series, with provisional ids.
type rows struct {
	series Series
	args   int // columns
	runs   []run
}

func newSorter(memory int64, dir string) *sorter {
	return &sorter{memory: memory, index: make(map[Series]*rows), spill: spill{dir: dir}}
}

func (s *sorter) close() { s.spill.close() }

// add takes the rows of b, which it may reorder.
func (s *sorter) add(b *Batch) error {
	if err := b.Check(); err != nil || b.Len() == 0 {
		return err
	}
	if err := s.markStacks(b.Stack); err != nil {
		return err
	}
	r := s.rows(b)
	if len(b.Args) != r.args {
		return fmt.Errorf("%w: %d arguments, want %d as before", ErrBatch, len(b.Args), r.args)
	}
	s.order.sort(b)
	to := r.runFor(b)
	for from := 0; from < b.Len(); {
		n := blockLen(b, from)
		s.block = appendBlock(s.block[:0], &s.packer, b, from, from+n)
		if len(s.block) > math.MaxInt32 {
			return fmt.Errorf("%w: a row of %v has %d bytes of arguments", ErrBatch, b.Series.Kind, len(s.block))
		}
		s.arena.append(&to.held, s.block)
		from += n
	}
	s.total += int64(b.Len())
	if s.arena.used > s.memory {
		return s.relieve()
	}
	return nil
}

// blockLen is how many rows of b, from from on, are the next block.
func blockLen(b *Batch, from int) int {
	room := room{rows: blockRows, bytes: blockArgs}
	return room.take(b, from, b.Len())
}

// rows returns the rows of b's series.
func (s *sorter) rows(b *Batch) *rows {
	if s.recent != nil && s.recent.series == b.Series {
		return s.recent
	}
	r := s.index[b.Series]
	if r == nil {
		r = &rows{series: b.Series, args: len(b.Args)}
		s.index[b.Series] = r
		s.series = append(s.series, r)
	}
	s.recent = r
	return r
}

// runFor returns the run that the rows of b, which are sorted, go on: of those
// that end before b begins the one that ends last.
func (r *rows) runFor(b *Batch) *run {
	first, last := b.key(0), b.key(b.Len()-1)
	var best *run
	for i := max(0, len(r.runs)-maxGrowing); i < len(r.runs); i++ {
		if end := r.runs[i].last; end.less(first) && (best == nil || best.last.less(end)) {
			best = &r.runs[i]
		}
	}
	if best == nil {
		r.runs = append(r.runs, run{first: first})
		best = &r.runs[len(r.runs)-1]
	}
	best.last = last
	return best
}

// markStacks notes that rows refer to these stacks.
func (s *sorter) markStacks(ids []StackID) error {
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

// relieve spills all blocks that are in memory.
func (s *sorter) relieve() error {
	m := merger{arena: &s.arena, spill: &s.spill, memory: s.memory}
	for _, r := range s.series {
		if err := s.unite(&m, r); err != nil {
			return err
		}
		for i := range r.runs {
			if err := s.spillRun(&r.runs[i]); err != nil {
				return err
			}
		}
	}
	s.arena.empty()
	return s.spill.flush()
}

// spillRun moves the blocks of r that are in memory to the spill.
func (s *sorter) spillRun(r *run) error {
	if r.held.first == 0 {
		return nil
	}
	if err := s.spill.begin(&r.spilled); err != nil {
		return err
	}
	for at := r.held.first; at != 0; {
		block, next := s.arena.block(at)
		if err := s.spill.block(block); err != nil {
			return err
		}
		at = next
	}
	r.held = chain{}
	return s.spill.end(&r.spilled)
}

// unite merges what r has in memory if it is many short runs: rows that came in
// no order.
func (s *sorter) unite(m *merger, r *rows) error {
	var parts []run
	held := func(r *run) bool { return r.held.first != 0 }
	for i := range r.runs {
		if held(&r.runs[i]) {
			parts = append(parts, run{first: r.runs[i].first, held: r.runs[i].held})
		}
	}
	if len(parts) <= manyRuns {
		return nil
	}
	whole := r.runs[:0]
	for i := range r.runs {
		r.runs[i].held = chain{}
		if r.runs[i].spilled.first != 0 {
			whole = append(whole, r.runs[i])
		}
	}
	r.runs = whole
	var like Batch
	like.Reset(r.series, r.args)
	for len(parts) > 0 {
		n := min(len(parts), s.width())
		merged, err := s.merge(m, parts[:n], &like)
		if err != nil {
			return err
		}
		r.runs, parts = append(r.runs, merged), parts[n:]
	}
	return nil
}

// width is how many runs may be open at once.
func (s *sorter) width() int { return max(2, int(s.memory/openRun)) }

// narrow merges runs until no more of them overlap than may be open at once.
func (s *sorter) narrow(m *merger, runs []run, like *Batch) ([]run, error) {
	width := s.width()
	for len(runs) > width && overlap(runs) > width {
		merged, err := s.merge(m, runs[:width], like)
		if err != nil {
			return nil, err
		}
		runs = append(runs[width:], merged)
	}
	return runs, nil
}

// merge makes one run of several, in the spill.
func (s *sorter) merge(m *merger, runs []run, like *Batch) (run, error) {
	var out run
	if err := s.spill.begin(&out.spilled); err != nil {
		return out, err
	}
	m.start(runs)
	for first := true; ; first = false {
		like.Reset(like.Series, len(like.Args))
		if err := m.next(like); err != nil {
			return out, err
		}
		if like.Len() == 0 {
			break
		}
		if first {
			out.first = like.key(0)
		}
		out.last = like.key(like.Len() - 1)
		if err := s.spillRows(like); err != nil {
			return out, err
		}
	}
	if err := s.spill.end(&out.spilled); err != nil {
		return out, err
	}
	return out, s.spill.flush()
}

// spillRows adds the rows of b to the extent that was begun.
func (s *sorter) spillRows(b *Batch) error {
	for from := 0; from < b.Len(); {
		n := blockLen(b, from)
		s.block = appendBlock(s.block[:0], &s.packer, b, from, from+n)
		if err := s.spill.block(s.block); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// overlap is how many of runs are open at once at most. It sorts them.
func overlap(runs []run) int {
	slices.SortFunc(runs, func(a, b run) int { return a.first.compare(b.first) })
	ends := make([]sortKey, len(runs))
	for i, r := range runs {
		ends[i] = r.last
	}
	slices.SortFunc(ends, sortKey.compare)
	most, closed := 0, 0
	for i, r := range runs {
		for ends[closed].compare(r.first) < 0 {
			closed++
		}
		most = max(most, i+1-closed)
	}
	return most
}
