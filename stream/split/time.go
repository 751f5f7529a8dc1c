package split

import (
	"errors"
	"fmt"

	"gprof/stream"
)

// MaxParts is the most parts of time that a recording may be split into: each becomes a
// file.
const MaxParts = 10_000

// ErrParts says that a recording has more than MaxParts parts.
var ErrParts = errors.New("too many parts")

// seriesBytes is about how much memory Copy takes for one series.
const seriesBytes = 640

// timeSource is a source whose rows say in which part of time they are.
type timeSource struct {
	stream.Wrapper
	every stream.Time
	in    stream.Batch // of Source
	at    int          // the next row of it
	parts map[int64]bool
	known map[stream.Series]bool
	claim stream.Claim
}

// ByTime returns a Source of the events of src in parts of time of the length every,
// which is above 0, counted from the Unix epoch. A row is in the part in which it begins.
// The sink of a Copy gets part after part: see [Sink]. The Source returns ErrParts if
// there are too many.
func ByTime(src stream.Source, every stream.Time) stream.Source {
	return &timeSource{Wrapper: stream.Wrapper{Source: src}, every: every, parts: map[int64]bool{}, known: map[stream.Series]bool{}}
}

// Next implements [Source]. It returns rows of one part.
func (c *timeSource) Next(b *stream.Batch) error {
	if c.at == c.in.Len() {
		c.at = 0
		if err := c.Source.Next(&c.in); err != nil || c.in.Len() == 0 {
			b.Reset(stream.Series{}, 0)
			return err
		}
	}
	part, to := c.part(c.at), c.at+1
	for to < c.in.Len() && c.part(to) == part {
		to++
	}
	if c.at == 0 && to == c.in.Len() { // nearly always
		*b, c.in = c.in, *b
		c.at = c.in.Len()
	} else {
		b.Reset(c.in.Series, len(c.in.Args))
		b.AppendRows(&c.in, c.at, to)
		c.at = to
	}
	b.Series.Part = part
	return c.note(b.Series)
}

// part is the number of the part of row i, rounded down.
func (c *timeSource) part(i int) int64 {
	at, every := int64(c.in.Time[i]), int64(c.every)
	part := at / every
	if at%every < 0 {
		part--
	}
	return part
}

// note counts parts, and the series that there are of each.
func (c *timeSource) note(s stream.Series) error {
	if c.known[s] {
		return nil
	}
	c.known[s] = true
	c.parts[s.Part] = true
	if len(c.parts) > MaxParts {
		return fmt.Errorf("%w: more than %d of %d ns each", ErrParts, MaxParts, c.every)
	}
	t := c.Tables()
	t.Lock()
	defer t.Unlock()
	c.claim.Add(t, seriesBytes)
	t.Full()
	return nil
}
