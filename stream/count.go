package stream

import "slices"

// Count is a Sink that counts rows. The zero Count is ready to use.
type Count struct {
	Tables *Tables       // that Begin was given
	Series []SeriesTally // in the order of Sink.Segment

	// Kinds says that Series has one tally for each kind of which there are rows, of no process: of thousands of
	// processes the series take megabytes.
	Kinds bool

	summed bool           // Series has all rows
	kinds  [numKinds]int8 // 1 and where each is in Series, if there are only those
}

// SeriesTally is the tally of one series.
type SeriesTally struct {
	Series
	Tally
}

// Tally is how many rows there are, and the time that they cover.
type Tally struct {
	Rows    int64
	Samples int64 // of Samples: the sum of their weights
	First   Time  // of any row; 0 if there is none
	Last    Time  // of any row; of an interval its end
}

// Begin keeps t.
func (c *Count) Begin(t *Tables) error {
	*c = Count{Tables: t, Kinds: c.Kinds}
	return nil
}

// counting is a Count that takes sums. Count itself has no such methods: a Sink in which one is
// embedded would have them, too, and its own Segment would get no rows.
type counting struct{ *Count }

// Needs implements [Summer].
func (c counting) Needs(Kind, *Tables) Need { return NeedsTally }

// Sums implements [Summer].
func (c counting) Sums(s *Sums) error {
	if c.summed = true; !c.Kinds {
		c.Series = s.Series
		return nil
	}
	for i := range s.Series {
		c.of(s.Series[i].Series).add(s.Series[i].Tally)
	}
	return nil
}

// Segment counts the rows of b.
func (c *Count) Segment(b *Batch) error {
	if c.summed {
		return nil
	}
	c.of(b.Series).add(tally(b))
	return nil
}

// of is the tally that has the rows of a series, which is the last one, or comes next.
func (c *Count) of(s Series) *SeriesTally {
	n := len(c.Series)
	if c.Kinds {
		if at := c.kinds[s.Kind]; at != 0 {
			return &c.Series[at-1]
		}
		s, c.kinds[s.Kind] = Series{Kind: s.Kind}, int8(n+1)
	} else if n > 0 && c.Series[n-1].Series == s {
		return &c.Series[n-1]
	}
	c.Series = append(c.Series, SeriesTally{Series: s})
	return &c.Series[n]
}

// Close does nothing.
func (c *Count) Close() error { return nil }

// Sum is the tally of all series that match.
func (c *Count) Sum(match func(Series) bool) Tally {
	var sum Tally
	for i := range c.Series {
		if match(c.Series[i].Series) {
			sum.add(c.Series[i].Tally)
		}
	}
	return sum
}

// tally counts rows in any order.
func tally(b *Batch) Tally {
	n := b.Len()
	if n == 0 {
		return Tally{}
	}
	t := Tally{Rows: int64(n), First: slices.Min(b.Time), Last: slices.Max(b.Time)}
	for _, w := range b.Weight {
		t.Samples += w
	}
	for i, d := range b.Duration {
		t.Last = max(t.Last, b.Time[i]+Time(d))
	}
	return t
}

// add adds what u counted.
func (t *Tally) add(u Tally) {
	if u.Rows == 0 {
		return
	}
	if t.Rows == 0 {
		*t = u
		return
	}
	t.Rows += u.Rows
	t.Samples += u.Samples
	t.First, t.Last = min(t.First, u.First), max(t.Last, u.Last)
}
