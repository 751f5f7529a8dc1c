package pprof

import (
	"fmt"
	"math"

	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// writeHeader writes what holds for the whole profile.
func (s *Sink) writeHeader() {
	if s.totals.Rows > 0 {
		s.buf = appendNumber(s.buf, profileproto.ProfileTime, uint64(s.totals.First))
		s.buf = appendNumber(s.buf, profileproto.ProfileDuration, uint64(duration(s.totals.First, s.totals.Last)))
	}
	period := s.types.period()
	s.valueType(profileproto.ProfilePeriodType, period.name, period.unit)
	s.buf = appendNumber(s.buf, profileproto.ProfilePeriod, uint64(s.period()))
	for _, comment := range s.comments() {
		s.buf = appendNumber(s.buf, profileproto.ProfileComment, s.texts.number(comment))
	}
	s.buf = appendNumber(s.buf, profileproto.ProfileDefaultType, s.texts.number(s.types.first()))
}

func duration(first, last stream.Time) int64 {
	if d := int64(last - first); d >= 0 {
		return d
	}
	return math.MaxInt64 // clocks were very wrong
}

// period is the longest interval between samples of all processes, as if their
// profiles had been merged by pprof.
func (s *Sink) period() int64 {
	var longest int64
	for i := range s.tables.Processes {
		longest = max(longest, s.tables.Processes[i].Interval)
	}
	return longest
}

// comments are what a person should know about the numbers. pprof shows those
// that begin with # only when it is asked for comments.
func (s *Sink) comments() []string {
	var all []string
	incomplete := false
	for _, line := range atMost(s.known, maxComments) {
		incomplete = incomplete || stream.Reasons[line.Reason].Severity == stream.Loss && !line.Reason.Quiet()
		all = append(all, comment(line))
	}
	if s.totals.Unknown > 0 && s.types.cpu >= 0 {
		all = append(all, fmt.Sprintf("# the CPU time of %d samples is unknown", s.totals.Unknown))
	}
	if incomplete {
		all = append(all, "The recording is incomplete: see pprof -comments")
	}
	return all
}

// maxComments is how many lines of the ledger are told one by one: a thousand
// inputs have thousands, which nobody reads, and a profile for PGO is kept in a
// repository.
const maxComments = 20

// atMost are lines as they are, or, if they are more, their sums by reason and
// by what they count.
func atMost(lines []stream.Line, most int) (all []stream.Line) {
	if len(lines) <= most {
		return lines
	}
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
	return all
}

// comment is a line of the ledger.
func comment(line stream.Line) string {
	reason := stream.Reasons[line.Reason]
	text := fmt.Sprintf("# %s: %s %s", reason.Severity, line.Process, reason.Name)
	if line.Process == "" {
		text = fmt.Sprintf("# %s: %s", reason.Severity, reason.Name)
	}
	if line.Where != "" {
		text += " " + line.Where
	}
	text += fmt.Sprintf(": %d %s", line.Count, line.What)
	if line.Bytes > 0 {
		text += fmt.Sprintf(", %d bytes", line.Bytes)
	}
	return text + " (" + reason.Text + ")"
}
