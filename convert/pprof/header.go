package pprof

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gprof/convert/internal/totals"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
	"gprof/stream/wording"
)

// writeHeader writes what holds for the whole profile.
func (s *Sink) writeHeader() {
	if s.totals.Rows > 0 {
		start, duration := s.span()
		s.buf = protobuf.AppendNumber(s.buf, profileproto.ProfileTime, uint64(start))
		s.buf = protobuf.AppendNumber(s.buf, profileproto.ProfileDuration, uint64(duration))
	}
	period := s.types.Period()
	if c := &s.imported; len(c.Types) > 0 {
		period = c.PeriodType
	}
	s.valueType(profileproto.ProfilePeriodType, period)
	s.buf = protobuf.AppendNumber(s.buf, profileproto.ProfilePeriod, uint64(s.period()))
	if s.imported.Alone != nil {
		s.writeAttributes()
	}
	for _, comment := range s.comments() {
		s.buf = protobuf.AppendNumber(s.buf, profileproto.ProfileComment, s.texts.Number(comment))
	}
	s.buf = protobuf.AppendNumber(s.buf, profileproto.ProfileDefaultType, s.texts.Number(s.defaultType()))
}

// defaultType is the profiles' own, if it exists.
func (s *Sink) defaultType() string {
	c := &s.imported
	if s.options.Sum && slices.ContainsFunc(s.tables.Processes, func(p stream.Process) bool { return p.Profile.Default != c.Default }) {
		return s.types.First() // the same in whatever order they come
	}
	if len(c.Types) > 0 && (c.Default == "" || slices.ContainsFunc(s.types.List, func(typ stream.ValueType) bool { return typ.Name == c.Default })) {
		return c.Default
	}
	return s.types.First()
}

// period is the longest sampling interval of all processes, as pprof merges profiles.
func (s *Sink) period() int64 {
	if len(s.imported.Types) > 0 {
		return s.imported.Period
	}
	if s.types.Period() != totals.CPUTypes[0] {
		return 0 // the interval is one of time
	}
	var longest int64
	for i := range s.tables.Processes {
		longest = max(longest, s.tables.Processes[i].Interval)
	}
	return longest
}

// comments are what a person should know about the numbers. pprof shows those that begin with #
// only on request.
func (s *Sink) comments() []string {
	var all []string
	incomplete := false
	known, unknown := s.known, s.totals.Unknown
	for i := range s.tables.Processes {
		unknown = totals.Plus(unknown, s.tables.Processes[i].Profile.UnknownCPU)
	}
	known = slices.DeleteFunc(known, func(line stream.Line) bool {
		return line.Reason == stream.ReasonClock && s.options.Every == 0 // nothing here has a time
	})
	if s.options.Sum {
		known = sumUp(known)
	}
	for _, line := range atMost(known, maxComments) {
		incomplete = incomplete || line.Reason.Severity() == stream.Loss && !line.Reason.Quiet()
		all = append(all, "# "+wording.Remark(line))
	}
	if unknown > 0 && s.types.CPU >= 0 {
		all = append(all, fmt.Sprintf(profileproto.CommentUnknownCPU, unknown))
	}
	if incomplete {
		all = append(all, profileproto.CommentIncomplete)
	}
	if comment, telling := s.sumComment(); s.options.Sum && (telling || len(all) > 0) {
		all = slices.Insert(all, 0, comment)
	}
	return all
}

// maxComments bounds the ledger lines told one by one: a thousand inputs have thousands, which
// nobody reads, and a PGO profile is kept in a repository.
const maxComments = 20

// atMost sums up lines by reason and subject if there are too many.
func atMost(lines []stream.Line, most int) (all []stream.Line) {
	if len(lines) <= most {
		return lines
	}
	return sumUp(lines)
}

// sumUp sums up lines by reason and subject.
func sumUp(lines []stream.Line) (all []stream.Line) {
	at := map[stream.Line]int{}
	for _, l := range lines {
		key := stream.Line{Reason: l.Reason, What: l.What}
		i, ok := at[key]
		if !ok {
			i = len(all)
			at[key], all = i, append(all, key)
		}
		all[i].Count += l.Count
		all[i].Bytes += l.Bytes
	}
	slices.SortFunc(all, func(a, b stream.Line) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.What, b.What))
	})
	return all
}

// writeAttributes writes the only profile's attributes.
func (s *Sink) writeAttributes() {
	for _, a := range s.imported.Alone.Attrs {
		switch a.Key {
		case "drop_frames":
			s.buf = protobuf.AppendNumber(s.buf, profileproto.ProfileDrop, s.texts.Number(a.Value))
		case "keep_frames":
			s.buf = protobuf.AppendNumber(s.buf, profileproto.ProfileKeep, s.texts.Number(a.Value))
		case "doc_url":
			s.buf = protobuf.AppendNumber(s.buf, profileproto.ProfileDoc, s.texts.Number(a.Value))
		case "comment":
			for line := range strings.SplitSeq(a.Value, "\n") {
				s.buf = protobuf.AppendNumber(s.buf, profileproto.ProfileComment, s.texts.Number(line))
			}
		}
	}
}

// span is the profile's beginning and duration.
func (s *Sink) span() (start stream.Time, duration int64) {
	first, last := s.totals.Span()
	if d := int64(last - first); d >= 0 {
		return first, d
	}
	return first, math.MaxInt64 // clocks were very wrong
}
