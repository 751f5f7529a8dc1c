package stream

import (
	"fmt"
)

// maxSegment is how many rows a segment has at most.
const maxSegment = 8192

// sorter keeps rows by series.
type sorter struct {
	options CopyOptions
	series  []*rows
	index   map[Series]*rows
	stacks  []bool // in use, by provisional id
}

// rows is what has come of one series, with provisional ids.
type rows struct {
	buffer Batch
}

func newSorter(o CopyOptions) *sorter {
	return &sorter{options: o, index: make(map[Series]*rows)}
}

func (s *sorter) close() {}

func (s *sorter) names() []Series {
	out := make([]Series, len(s.series))
	for i, r := range s.series {
		out[i] = r.buffer.Series
	}
	return out
}

func (s *sorter) add(b *Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	r := s.index[b.Series]
	if r == nil {
		r = &rows{}
		r.buffer.Reset(b.Series, len(b.Args))
		s.index[b.Series] = r
		s.series = append(s.series, r)
	}
	if len(b.Args) != len(r.buffer.Args) {
		return fmt.Errorf("%w: %d arguments, want %d as before", ErrBatch, len(b.Args), len(r.buffer.Args))
	}
	if err := s.markStacks(b.Stack); err != nil {
		return err
	}
	r.buffer.AppendRows(b, 0, b.Len())
	return nil
}

// markStacks notes that rows refer to these stacks.
func (s *sorter) markStacks(ids []StackID) error {
	for _, id := range ids {
		if int(id) >= len(s.stacks) {
			s.stacks = append(s.stacks, make([]bool, int(id)+1-len(s.stacks))...)
		} else if id < 0 {
			return undefined("stack", int32(id), len(s.stacks))
		}
		s.stacks[id] = true
	}
	return nil
}

func (s *sorter) finish() error { return nil }

func (s *sorter) write(dst Sink, ids *renumbering) error {
	for _, o := range s.outputs(ids) {
		var all, seg Batch
		all.Reset(o.series, len(o.rows[0].buffer.Args))
		for _, r := range o.rows {
			all.AppendRows(&r.buffer, 0, r.buffer.Len())
		}
		all.sort()
		for i, id := range all.Stack {
			all.Stack[i] = ids.stacks[id]
		}
		for from := 0; from < all.Len(); from += maxSegment {
			seg.Reset(o.series, len(all.Args))
			seg.AppendRows(&all, from, min(from+maxSegment, all.Len()))
			if err := dst.Segment(&seg); err != nil {
				return fmt.Errorf("writing %v: %w", o.series.Kind, err)
			}
		}
	}
	return nil
}
