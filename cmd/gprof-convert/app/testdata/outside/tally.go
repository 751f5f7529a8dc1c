package main

import (
	"fmt"
	"io"

	"gprof/convert"
	"gprof/stream"
)

// tallyFormat is a made-up format of outputs: how many samples each function has, in the
// order in which functions are first seen.
var tallyFormat = convert.Format{
	Name:       "tally",
	Text:       "samples by function, as plain text",
	Extensions: []string{".tally"},
	Adds:       true,
	Kinds:      []stream.Kind{stream.Samples},
	Open:       func(w io.Writer, _ convert.Options) stream.Sink { return &tally{w: w, samples: map[string]int64{}} },
}

type tally struct {
	w       io.Writer
	tables  *stream.Tables
	order   []string
	samples map[string]int64
}

func (s *tally) Begin(t *stream.Tables) error {
	s.tables = t
	return nil
}

func (s *tally) Segment(b *stream.Batch) error {
	if b.Series.Kind != stream.Samples {
		return nil
	}
	for i, stack := range b.Stack {
		_, frame := s.tables.Stacks.At(stack)
		name := s.tables.Strings.At(s.tables.Frames.At(frame).Function)
		if s.samples[name] == 0 {
			s.order = append(s.order, name)
		}
		s.samples[name] += b.Weight[i]
	}
	return nil
}

func (s *tally) Close() error {
	for _, name := range s.order {
		if _, err := fmt.Fprintln(s.w, s.samples[name], name); err != nil {
			return err
		}
	}
	return nil
}
