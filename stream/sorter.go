package stream

import (
	"cmp"
	"fmt"
	"slices"
)

// openRun is about what reading a spilled run takes: its buffer and a block,
// encoded and decoded.
const openRun = 64 << 10

// maxBuffer is how many bytes of one series are held at most, whatever the
// budget: a Column's texts must not pass 4 GiB.
const maxBuffer = 1 << 30

// sorter takes rows in any order and gives them back series by series, sorted.
type sorter struct {
	memory int64 // how much may be held
	held   int64 // what is held
	series []*rows
	index  map[Series]*rows
	stacks []bool // in use, by provisional id
	total  int64  // rows
	spill  spill
}

// rows is what has come of one series, with provisional ids.
type rows struct {
	series Series
	args   int    // columns
	buffer *Batch // not sorted; nil if all rows are in runs
	held   int64  // bytes of buffer
	runs   []run
}

func newSorter(o CopyOptions) *sorter {
	memory := o.Memory
	if memory <= 0 {
		memory = DefaultMemory
	}
	return &sorter{memory: memory, index: make(map[Series]*rows), spill: spill{dir: o.SpillDir}}
}

func (s *sorter) close() { s.spill.close() }

// add takes a copy of b.
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
	if r.buffer == nil {
		r.buffer = new(Batch)
		r.buffer.Reset(r.series, r.args)
	}
	r.buffer.AppendRows(b, 0, b.Len())
	s.total += int64(b.Len())
	s.hold(r, r.buffer.memory())
	if r.held > maxBuffer {
		return s.flush(r)
	}
	if s.held > s.memory {
		return s.relieve(s.memory / 2)
	}
	return nil
}

// rows returns the rows of b's series.
func (s *sorter) rows(b *Batch) *rows {
	r := s.index[b.Series]
	if r == nil {
		r = &rows{series: b.Series, args: len(b.Args)}
		s.index[b.Series] = r
		s.series = append(s.series, r)
	}
	return r
}

// markStacks notes that rows refer to these stacks.
func (s *sorter) markStacks(ids []StackID) error {
	for _, id := range ids {
		if id < 0 {
			return undefined("stack", int32(id), len(s.stacks))
		}
		if missing := int(id) + 1 - len(s.stacks); missing > 0 {
			s.stacks = append(s.stacks, make([]bool, missing)...)
		}
		s.stacks[id] = true
	}
	return nil
}

// hold notes that r's buffer takes that many bytes now.
func (s *sorter) hold(r *rows, bytes int64) {
	s.held += bytes - r.held
	r.held = bytes
}

// relieve spills the series that hold most until no more than target is held.
// Long runs are few and quick to read.
func (s *sorter) relieve(target int64) error {
	var order []*rows
	for _, r := range s.series {
		if r.buffer != nil {
			order = append(order, r)
		}
	}
	slices.SortFunc(order, func(a, b *rows) int { return cmp.Compare(b.held, a.held) })
	for _, r := range order {
		if s.held <= target {
			break
		}
		if err := s.flush(r); err != nil {
			return err
		}
	}
	return nil
}

// flush makes a run of r's buffer, in the spill.
func (s *sorter) flush(r *rows) error {
	if r.buffer == nil {
		return nil
	}
	r.buffer.sort()
	var out run
	if err := s.spill.append(&out, r.buffer); err != nil {
		return err
	}
	r.runs = append(r.runs, out)
	r.buffer = nil
	s.hold(r, 0)
	return nil
}

// finish ends the adding: all rows are in runs. They stay in memory if none
// was spilled.
func (s *sorter) finish() error {
	if s.spill.file != nil {
		for _, r := range s.series {
			if err := s.flush(r); err != nil {
				return err
			}
		}
		return s.spill.flush()
	}
	for _, r := range s.series {
		b := r.buffer
		b.sort()
		r.runs = []run{{rows: b, first: b.key(0), last: b.key(b.Len() - 1)}}
	}
	return nil
}

// narrow merges runs until no more of them overlap than may be open at once.
func (s *sorter) narrow(m *merger, runs []run, like *Batch) ([]run, error) {
	width := max(2, int(s.memory/openRun))
	for s.spill.file != nil && overlap(runs) > width {
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
	m.start(runs)
	for {
		like.Reset(like.Series, len(like.Args))
		if err := m.next(like); err != nil {
			return out, err
		}
		if like.Len() == 0 {
			return out, s.spill.flush()
		}
		if err := s.spill.append(&out, like); err != nil {
			return out, err
		}
	}
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
