package pprof

import (
	"math"
	"slices"
	"strings"

	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// came is what profiles that are converted say of themselves: it goes out as it came.
type came struct {
	stream.Profile
	alone *stream.Process // the process of the only profile
}

// profileOf returns what all processes of tables say, if they are of profiles with the
// same types of values.
func profileOf(t *stream.Tables) (c came) {
	for i := range t.Processes {
		p := &t.Processes[i].Profile
		if len(p.Types) == 0 || i > 0 && (!slices.Equal(p.Types, c.Types) || p.PeriodType != c.PeriodType) {
			return came{}
		}
		if i == 0 {
			c.Profile = *p
		}
		c.Period = max(c.Period, p.Period)
	}
	if len(t.Processes) == 1 {
		c.alone = &t.Processes[0]
	}
	return c
}

// arrange puts the types of values in the order in which they came. Those that came
// stay, also if all their values are 0, and a number of samples that follows from
// their time goes.
func (y *types) arrange(c *came) {
	y.at = make([]int, len(y.list))
	list := make([]sampleType, 0, len(y.list))
	for _, typ := range c.Types {
		list = append(list, sampleType{typ.Name, typ.Unit})
	}
	for i, typ := range y.list {
		y.at[i] = slices.IndexFunc(list, func(s sampleType) bool { return s.name == typ.name })
		switch {
		case y.at[i] >= 0:
			list[y.at[i]] = typ // the unit may be another
		case len(c.Types) == 0 || i != y.samples || y.cpu < 0:
			y.at[i] = len(list)
			list = append(list, typ)
		}
	}
	y.list, y.arranged = list, make([]int64, len(list))
}

// writeAttributes writes what the only profile says besides.
func (s *Sink) writeAttributes() {
	for _, a := range s.came.alone.Attrs {
		switch a.Key {
		case "drop_frames":
			s.buf = appendNumber(s.buf, profileproto.ProfileDrop, s.texts.number(a.Value))
		case "keep_frames":
			s.buf = appendNumber(s.buf, profileproto.ProfileKeep, s.texts.number(a.Value))
		case "doc_url":
			s.buf = appendNumber(s.buf, profileproto.ProfileDoc, s.texts.number(a.Value))
		case "comment":
			for line := range strings.SplitSeq(a.Value, "\n") {
				s.buf = appendNumber(s.buf, profileproto.ProfileComment, s.texts.number(line))
			}
		}
	}
}

// span is when the profile began, and how long it is: what the only profile says,
// else from the first row to the last.
func (s *Sink) span() (start stream.Time, duration int64) {
	first, last := s.totals.First, s.totals.Last
	if p := s.came.alone; p != nil {
		first, last = p.Start, max(p.Start, p.End)
	}
	if d := int64(last - first); d >= 0 {
		return first, d
	}
	return first, math.MaxInt64 // clocks were very wrong
}
