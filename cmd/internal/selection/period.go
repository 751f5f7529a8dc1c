package selection

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gprof/ingest"
	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/wording"
)

// PeriodHelp describes times, for the help of commands.
const PeriodHelp = `A time T is one of

  2026-11-21T17:02:00.5Z   a moment, RFC 3339
  1795280520.5             a moment, in seconds since 1970
  90s, +1h2m               that long after the first process began
  -60s                     that long before the last event (--from=-60s)
  crash, crash:P           for --to: the last that a process committed that ended
                           uncleanly: killed, crashed, or failed
`

// Period are the flags for a range of time. The zero period is all time.
type Period struct {
	From string `aliases:"since" placeholder:"T" help:"Leave out what ended before: a moment (RFC 3339), +10s after the start, --from=-5m before the end. --since is the same."`
	To   string `placeholder:"T" help:"Leave out what began then or later: as --from; or crash: after the last that a process committed that ended uncleanly."`
	Last length `placeholder:"D" help:"Leave out what ended more than D before --to, else before the latest event of all inputs: 10s, 5m."`
}

// Errors of a period.
var (
	errBoth = errors.New("--last and --from both say where to begin; leave one of them out")
	errLast = errors.New("want a duration above 0, such as 10s or 5m")

	ErrNoCrash = errors.New("no process ended uncleanly: each stopped, exited with status 0, or is still recording")
)

// length is the length of a period, above 0.
type length time.Duration

// UnmarshalText reads a duration.
func (l *length) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d <= 0 {
		return fmt.Errorf("%q: %w", text, errLast)
	}
	*l = length(d)
	return nil
}

// Given reports whether any of the flags is given.
func (p *Period) Given() bool { return *p != Period{} }

// Relative reports whether the period depends on when the recordings begin or end.
func (p *Period) Relative() bool {
	for _, text := range []string{p.From, p.To} {
		one, err1 := moments{}.parse("", text, 0)
		other, err2 := moments{1e18, 2e18}.parse("", text, 0)
		if err1 != nil || err2 != nil || one != other { // an error: crash, or no time
			return true
		}
	}
	return p.Last != 0
}

// check refuses flags that contradict each other, before anything is read.
func (p *Period) check() error {
	switch {
	case p.Last != 0 && p.From != "":
		return errBoth
	}
	_, err1 := moments{}.parse("--from", p.From, 0)
	_, err2 := p.parseTo(moments{}, nil, nil)
	return errors.Join(err1, err2)
}

// Span is the period on the clock of the recordings: from from on and before to. A crash
// is one of a process that of matches, if it has any patterns.
func (p *Period) Span(found *ingest.Found, of filter.Patterns) (from, to stream.Time, err error) {
	from, to = math.MinInt64, math.MaxInt64
	if err := p.check(); err != nil || !p.Given() {
		return from, to, err
	}
	start, end := found.Span()
	m := moments{start, end}
	if from, err = m.parse("--from", p.From, from); err != nil {
		return 0, 0, err
	}
	if to, err = p.parseTo(m, found, of); err != nil {
		return 0, 0, err
	}
	if p.Last > 0 {
		from = later(min(to, end), -time.Duration(p.Last))
	}
	if from > to {
		return 0, 0, fmt.Errorf("--from %s is later than --to %s", utc(from), utc(to))
	}
	return from, to, nil
}

// EmptyHint says when there are events, if there are none in the period.
func (p *Period) EmptyHint(found *ingest.Found, c *stream.Count) string {
	if !p.Given() || len(c.Series) > 0 {
		return ""
	}
	return OutsideHint(found, math.MaxInt64, math.MinInt64)
}

// OutsideHint says when there are events, if a time is before or after all of them.
func OutsideHint(found *ingest.Found, from, to stream.Time) string {
	start, end := found.Span()
	if end <= start || from <= end && to >= start {
		return ""
	}
	return fmt.Sprintf("nothing happened in that time; the recording is from %s to %s", utc(start), utc(end))
}

// parseTo is the end of the period, with the last event in it. Without found, only times
// that need no recording are read.
func (p *Period) parseTo(m moments, found *ingest.Found, of filter.Patterns) (stream.Time, error) {
	word, name, named := strings.Cut(p.To, ":")
	switch {
	case word != "crash":
		return m.parse("--to", p.To, math.MaxInt64)
	case found == nil:
		return 0, nil
	}
	crashes := found.Crashes(of)
	chosen := crashes
	if named {
		chosen = found.Crashes(filter.Patterns{filter.Pattern(name)})
		chosen = slices.DeleteFunc(chosen, func(c ingest.Crash) bool { return !slices.Contains(crashes, c) })
	}
	at, err := crashOf(crashes, chosen, name)
	if err != nil {
		return 0, fmt.Errorf("--to %s: %w", p.To, err)
	}
	return at + 1, nil
}

// crashOf is the last moment of a process that ended uncleanly: of the one with that
// name, or of the only one that was chosen.
func crashOf(crashes, chosen []ingest.Crash, name string) (stream.Time, error) {
	if len(chosen) == 1 {
		return chosen[0].At, nil
	}
	var list strings.Builder
	for _, c := range crashes {
		fmt.Fprintf(&list, "\n  --to crash:%s   %s, %s", c.Instance, utc(c.At), wording.Printable(c.Title))
	}
	switch {
	case len(crashes) == 0:
		return 0, ErrNoCrash
	case len(chosen) == 0:
		return 0, fmt.Errorf("no process %q ended uncleanly; these did:%s", name, list.String())
	}
	return 0, fmt.Errorf("%d processes ended uncleanly; choose one of:%s", len(chosen), list.String())
}

// utc writes a moment.
func utc(t stream.Time) string { return time.Unix(0, int64(t)).UTC().Format(time.RFC3339Nano) }

// moments reads times relative to the start and end of the recording.
type moments struct{ start, end stream.Time }

// parse reads the time of a flag; without a text it is none.
func (m moments) parse(flag, text string, none stream.Time) (stream.Time, error) {
	if text == "" {
		return none, nil
	}
	if d, err := time.ParseDuration(text); err == nil && strings.ContainsAny(text, "hmsuµn") {
		if strings.HasPrefix(text, "-") {
			return later(m.end, d), nil
		}
		return later(m.start, d), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil && t.Year() > 1677 && t.Year() < 2262 {
		return stream.Time(t.UnixNano()), nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err == nil && seconds >= 0 && seconds < math.MaxInt64/1e9 {
		whole, part := math.Modf(seconds)
		return stream.Time(int64(whole)*1e9 + int64(part*1e9)), nil
	}
	return 0, fmt.Errorf("%s: %q is no time; want one such as 2026-11-21T17:02:00Z, 1795280520, 90s after the start, or %s=-60s before the end", flag, text, flag)
}

// later is t moved by d, at most to the end of all time.
func later(t stream.Time, d time.Duration) stream.Time {
	switch sum := t + stream.Time(d); {
	case d > 0 && sum < t:
		return math.MaxInt64
	case d < 0 && sum > t:
		return math.MinInt64
	default:
		return sum
	}
}
