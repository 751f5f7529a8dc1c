package flame

import (
	"fmt"

	"gprof/stream"
)

// Still is the part of a Sink that all pictures have in common: it counts the
// samples of the whole run.
type Still struct {
	tables  *stream.Tables
	tree    *Tree
	caption Caption
	self    []int64 // samples by node
	left    Left
}

// Begin makes the tree that samples are counted in.
func (s *Still) Begin(t *stream.Tables) error {
	var err error
	if s.tree, err = NewTree(t); err != nil {
		return err
	}
	s.tables = t
	s.caption = NewCaption(t, t.Ledger.Lines())
	s.self = make([]int64, len(s.tree.Parent))
	return nil
}

// Segment counts the samples of b.
func (s *Still) Segment(b *stream.Batch) error {
	if b.Series.Kind != stream.Samples {
		s.left.AddKind(b.Series.Process, b.Series.Kind.String(), int64(b.Len()))
		return nil
	}
	for i, stack := range b.Stack {
		if id := int(stack); id < 0 || id > s.tables.Stacks.Len() {
			return fmt.Errorf("%w: stack %d of %d", stream.ErrBatch, id, s.tables.Stacks.Len())
		}
		s.self[s.tree.Node(stack)] += max(b.Weight[i], 0)
	}
	return nil
}

// Picture is the picture of what was counted.
func (s *Still) Picture(font Font) *Picture {
	return NewPicture(s.tree, s.tree.Totals(s.self), &s.caption, font)
}

// Tell adds what has no place in a picture to the ledger.
func (s *Still) Tell() { s.left.Tell(s.tables) }
