package pprof

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"gprof/convert/internal/totals"
	"gprof/rawformat/profileproto"
	"gprof/stream"
	"gprof/stream/wording"
)

// writeHeader writes what holds for the whole profile.
func (s *Sink) writeHeader() {
	if s.totals.Rows > 0 {
		start, duration := s.span()
		s.buf = appendNumber(s.buf, profileproto.ProfileTime, uint64(start))
		s.buf = appendNumber(s.buf, profileproto.ProfileDuration, uint64(duration))
	}
	period := s.types.period()
	if c := &s.imported; len(c.Types) > 0 {
		period = sampleType{c.PeriodType.Name, c.PeriodType.Unit}
	}
	s.valueType(profileproto.ProfilePeriodType, period.name, period.unit)
	s.buf = appendNumber(s.buf, profileproto.ProfilePeriod, uint64(s.period()))
	if s.imported.alone != nil {
		s.writeAttributes()
	}
	for _, comment := range s.comments() {
		s.buf = appendNumber(s.buf, profileproto.ProfileComment, s.texts.number(comment))
	}
	s.buf = appendNumber(s.buf, profileproto.ProfileDefaultType, s.texts.number(s.defaultType()))
}

// defaultType is the profiles' own, if it exists.
func (s *Sink) defaultType() string {
	c := &s.imported
	if s.options.Sum && slices.ContainsFunc(s.tables.Processes, func(p stream.Process) bool { return p.Profile.Default != c.Default }) {
		return s.types.first() // the same in whatever order they come
	}
	if len(c.Types) > 0 && (c.Default == "" || slices.ContainsFunc(s.types.list, func(typ sampleType) bool { return typ.name == c.Default })) {
		return c.Default
	}
	return s.types.first()
}

// period is the longest sampling interval of all processes, as pprof merges profiles.
func (s *Sink) period() int64 {
	if len(s.imported.Types) > 0 {
		return s.imported.Period
	}
	if s.types.period() != cpuTypes[0] {
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
	if unknown > 0 && s.types.cpu >= 0 {
		all = append(all, fmt.Sprintf(profileproto.CommentUnknownCPU, unknown))
	}
	if incomplete {
		all = append(all, profileproto.CommentIncomplete)
	}
	if comment, telling := s.modules.comment(); s.options.Sum && (telling || len(all) > 0) {
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

// appendNumber appends a numeric field; 0 is the default.
func appendNumber(dst []byte, field int, n uint64) []byte {
	if n == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(field)<<3|profileproto.WireVarint)
	return binary.AppendUvarint(dst, n)
}

func appendBool(dst []byte, field int, b bool) []byte {
	if !b {
		return dst
	}
	return appendNumber(dst, field, 1)
}

// appendBytes appends a field that is a string, a message, or packed numbers.
// An empty one is appended, too: it may be one of several.
func appendBytes[T string | []byte](dst []byte, field int, value T) []byte {
	dst = binary.AppendUvarint(dst, uint64(field)<<3|profileproto.WireBytes)
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}

// texts is the string table.
type texts struct {
	numbers map[string]uint64
	list    []string
}

// number returns the index of a string, made valid UTF-8 for strict readers. The empty string is 0.
func (t *texts) number(s string) uint64 {
	if t.numbers == nil {
		t.numbers, t.list = map[string]uint64{"": 0}, []string{""}
	}
	if n, ok := t.numbers[s]; ok {
		return n
	}
	n := uint64(len(t.list))
	t.numbers[s] = n
	t.list = append(t.list, strings.ToValidUTF8(s, "\ufffd"))
	return n
}
