package stream

import (
	"errors"
	"fmt"
	"io"
)

// segments gives the segments of all series, in order.
type segments struct {
	sorter  *Sorter
	merger  merger
	outputs []output   // the first one is being given
	stacks  []StackID  // final ids
	labels  []LabelsID // likewise
	begun   bool
}

func newSegments(s *Sorter, outputs []output, ids *renumbering) *segments {
	return &segments{sorter: s, outputs: outputs, stacks: ids.stacks, labels: ids.labels, merger: merger{store: s.store, memory: s.memory}}
}

// next makes b the next segment; io.EOF if there is none.
func (s *segments) next(b *Batch) error {
	for ; len(s.outputs) > 0; s.outputs, s.begun = s.outputs[1:], false {
		out := &s.outputs[0]
		b.Reset(out.series, out.args)
		if err := s.fill(b, out); err != nil {
			return fmt.Errorf("of process %d: %w", out.series.Process, err)
		}
		if b.Len() > 0 {
			return nil
		}
	}
	return io.EOF
}

// fill adds the next rows of a series to b; none if there are no more.
func (s *segments) fill(b *Batch, out *output) error {
	if !s.begun {
		runs, err := s.sorter.narrow(&s.merger, out.runs, b)
		if err != nil {
			return err
		}
		s.merger.start(runs)
		s.begun = true
		b.Reset(out.series, out.args)
	}
	if err := s.merger.next(b); err != nil {
		return err
	}
	for i, id := range b.Stack {
		b.Stack[i] = s.stacks[id]
	}
	for i, id := range b.Labels {
		b.Labels[i] = s.labels[id]
	}
	return nil
}

// writer gives segments to a sink.
type writer struct {
	dst     Sink
	meter   meter
	written int64 // rows
}

// write gives the sink all segments. With more than one job they are made ready
// while the sink works.
func (w *writer) write(s *segments, jobs int) error {
	next := s.next
	if jobs > 1 {
		a := startAhead(s.next)
		defer a.stop()
		next = a.next
	}
	var b Batch
	for {
		if err := next(&b); errors.Is(err, io.EOF) {
			w.meter.finish()
			return nil
		} else if err != nil {
			return fmt.Errorf("sorting %v %w", b.Series.Kind, err)
		}
		if err := w.dst.Segment(&b); err != nil {
			return fmt.Errorf("writing %v of process %d: %w", b.Series.Kind, b.Series.Process, err)
		}
		w.written += int64(b.Len())
		w.meter.to(w.written, w.meter.total)
	}
}
