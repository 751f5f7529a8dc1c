// Package svg draws a still of the flame graph of a run: a picture 1,600 pixels
// wide that needs no program but one that shows SVG.
//
// The root is at the top, callees hang below their callers, and the widest is
// on the left. All tracks of all processes are one graph, weighed by samples.
// The colour is that of the category, or of the package if all functions are of
// one category. Every box has its full name, its samples
// and its share as a tooltip, where whoever shows the picture has such things.
//
// What is not drawn: boxes narrower than half a pixel and rows below the 150th,
// which the last line of the picture says; CPU time; everything but samples,
// which the ledger says.
package svg

import (
	"fmt"

	"gprof/convert/internal/flame"
	"gprof/convert/internal/ordered"
	"gprof/stream"
)

// Sink draws one picture.
type Sink struct {
	out     *ordered.Writer
	tables  *stream.Tables
	tree    *flame.Tree
	caption flame.Caption
	self    []int64 // samples by node
	left    flame.Left
}

// New returns a Sink that writes to w, and closes it at the end.
func New(w *ordered.Writer) *Sink { return &Sink{out: w} }

// Begin makes the tree that samples are counted in.
func (s *Sink) Begin(t *stream.Tables) error {
	s.tables = t
	s.tree = flame.NewTree(t)
	s.caption = flame.NewCaption(t, t.Ledger.Lines())
	s.self = make([]int64, len(s.tree.Parent))
	return nil
}

// Segment counts the samples of b.
func (s *Sink) Segment(b *stream.Batch) error {
	if b.Series.Kind != stream.Samples {
		s.left.Add(b.Series.Process, b.Series.Kind.String(), int64(b.Len()))
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

// Close draws the picture and adds what has no place in it to the ledger.
func (s *Sink) Close() error {
	p := newPicture(s.tree, s.tree.Totals(s.self))
	p.draw(&s.caption)
	s.out.Write(p.text)
	s.left.Tell(s.tables)
	return s.out.Close()
}
