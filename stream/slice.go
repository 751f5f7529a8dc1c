package stream

import "io"

// sliced is the part of a source in a range of time.
type sliced struct {
	Source
	from, to Time
	kept     []int32
	filter   ordering
}

// Slice returns a Source of the events of src from from on and before to: rows
// whose moment lies there, and intervals that reach into it, whole. What is left
// out was asked to be, so it is not in the ledger. It is a [Progress] if src is,
// and closes src if it can be closed.
//
// Pages stay, whenever they began: events inside refer to them. Starts and ends
// are moments of their own, as they are after a loss: of a pair around the
// border one is kept.
func Slice(src Source, from, to Time) Source {
	s := &sliced{Source: src, from: from, to: to}
	if p, ok := src.(Progress); ok {
		return slicedProgress{s, p}
	}
	return s
}

// slicedProgress is a slice of a source that tells its progress.
type slicedProgress struct {
	*sliced
	of Progress
}

func (s slicedProgress) Progress() (done, total int64) { return s.of.Progress() }

// Next implements [Source].
func (s *sliced) Next(b *Batch) error {
	for {
		if err := s.Source.Next(b); err != nil {
			return err
		}
		if s.keep(b); b.Len() > 0 {
			return nil
		}
	}
}

// Close implements [io.Closer].
func (s *sliced) Close() error {
	if c, ok := s.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// keep takes the rows outside out of b.
func (s *sliced) keep(b *Batch) {
	if b.Series.Kind == Pages {
		return
	}
	s.kept = s.kept[:0]
	for i := range b.Time {
		if s.holds(b, i) {
			s.kept = append(s.kept, int32(i))
		}
	}
	if len(s.kept) < b.Len() {
		s.filter.order = s.kept
		s.filter.permute(b)
	}
}

func (s *sliced) holds(b *Batch, i int) bool {
	at := b.Time[i]
	if at >= s.from || len(b.Duration) == 0 {
		return s.from <= at && at < s.to
	}
	// Without signs, because the difference may be larger than a Time.
	return at < s.to && b.Duration[i] > 0 && uint64(b.Duration[i]) > uint64(s.from)-uint64(at)
}
