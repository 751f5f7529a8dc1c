package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gprof/stream"
)

// Condition is a limit to what may change, such as
//
//	p99(http.request) > +10%
//
// A bound with a sign is one of the change: in per cent of what it was, or in
// units. Without a sign it is one of the new figure.
type Condition struct {
	Text   string // as it was given
	Figure string // as "p99"
	Name   string // of the function or the markers

	quantile float64 // if it is one
	below    bool    // < rather than >
	kind     boundKind
	bound    float64 // 0.1 for 10 %; else in the figure's unit
}

type boundKind int

const (
	relative   boundKind = iota // to Base
	difference                  // to Base
	absolute
)

// ErrCondition is the error of a text that is no condition.
var ErrCondition = errors.New("not a condition")

// unit is what a figure is measured in.
type unit int

const (
	shares unit = iota
	cores       // seconds in a second
	perSecond
	times // without a unit
	seconds
)

// figures are all there are besides quantiles, in the order of messages.
var figures = []struct {
	name string
	unit unit
}{{"self", shares}, {"total", shares}, {"selfcpu", cores}, {"totalcpu", cores}, {"cpu", cores}, {"rate", perSecond}, {"count", times}, {"mean", seconds}}

// Figures says what a condition may be of.
const Figures = "self, total, selfcpu, totalcpu (of a function), cpu() of all, rate, count, mean, p50, p99, p99.9 (of a marker)"

// example is part of every message about conditions.
const example = `want one such as "p99(http.request) > +10%", "self(main.work) > +5%", "rate(order) < 100/s"`

var form = regexp.MustCompile(`^\s*([a-z0-9.]+)\s*\((.*)\)\s*([<>])=?\s*(\S(?:.*\S)?)\s*$`)

// IsCondition says whether a text is meant to be a condition.
func IsCondition(text string) bool { return strings.ContainsAny(text, "<>(") }

// ParseCondition reads a condition. The error is [ErrCondition].
func ParseCondition(text string) (Condition, error) {
	c := Condition{Text: strings.TrimSpace(text)}
	part := form.FindStringSubmatch(text)
	if part == nil {
		return c, fmt.Errorf("%w: %q; %s", ErrCondition, text, example)
	}
	c.Figure, c.Name, c.below = part[1], strings.TrimSpace(part[2]), part[3] == "<"
	u, err := c.unit()
	if err != nil {
		return c, err
	}
	if (c.Figure == "cpu") != (c.Name == "") {
		return c, fmt.Errorf("%w: %q: %s", ErrCondition, text, map[bool]string{true: "cpu() is of all functions, for one it is totalcpu", false: "a name is missing between the brackets"}[c.Figure == "cpu"])
	}
	if err := c.parseBound(part[4], u); err != nil {
		return c, fmt.Errorf("%w: %q: %w", ErrCondition, text, err)
	}
	return c, nil
}

// unit finds the figure.
func (c *Condition) unit() (unit, error) {
	for _, f := range figures {
		if f.name == c.Figure {
			return f.unit, nil
		}
	}
	if number, ok := strings.CutPrefix(c.Figure, "p"); ok {
		if q, err := strconv.ParseFloat(number, 64); err == nil && q > 0 && q <= 100 {
			c.quantile = q / 100
			return seconds, nil
		}
	}
	return 0, fmt.Errorf("%w: %q: there is no %q; there are %s", ErrCondition, c.Text, c.Figure, Figures)
}

// parseBound reads what is behind the sign of comparison.
func (c *Condition) parseBound(text string, u unit) error {
	signed := strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-")
	number := strings.TrimSpace(strings.TrimPrefix(text, "+"))
	percent, isPercent := strings.CutSuffix(number, "%")
	c.kind = absolute
	switch {
	case signed && isPercent:
		c.kind = relative
	case signed:
		c.kind = difference
	}
	var err error
	if isPercent && (signed || u == shares) {
		if c.bound, err = parseNumber(percent); err == nil {
			c.bound /= 100
		}
	} else {
		c.bound, err = u.parse(number)
	}
	if err == nil && c.kind == relative && c.bound < -1 {
		err = fmt.Errorf("%s is less than nothing", text)
	}
	return err
}

func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no number", text)
	}
	return v, nil
}

// parse reads a number with its unit.
func (u unit) parse(text string) (float64, error) {
	switch u {
	case shares:
		points, ok := strings.CutSuffix(text, "pp")
		if !ok {
			return 0, fmt.Errorf("%q is no share; want 12%% of all, +5%% of what it was, or +2pp, points of a hundred", text)
		}
		v, err := parseNumber(points)
		return v / 100, err
	case seconds:
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("%q is no duration; want 250ms, +20ms or +10%%", text)
		}
		return d.Seconds(), nil
	case perSecond:
		number := strings.TrimSuffix(text, "/s")
		return parseNumber(number)
	}
	return parseNumber(text)
}

// ErrName is the error of a condition about what is in neither set.
var ErrName = errors.New("in neither set")

// Verdict is what a condition comes to.
type Verdict int

const (
	Holds   Verdict = iota // the figure is within the bound
	Nothing                // there is no such figure, as of markers that took no time
	Noise                  // it is beyond, but its interval is not
	TooFew                 // it is beyond, and too few processes tell whether that is noise
	Beyond                 // its interval is beyond
)

// Outcome is a condition and what it comes to.
type Outcome struct {
	Condition Condition `json:"-"`
	Text      string    `json:"condition"`
	Verdict   Verdict   `json:"verdict"`
	Change    Change    `json:"change"`
}

// String is the verdict in a word.
func (v Verdict) String() string {
	return [...]string{"holds", "nothing", "noise", "too few", "beyond"}[v]
}

// MarshalText is String, for JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Check looks whether a condition is met. The error is [ErrName] if there is
// nothing of that name in either set.
func (r *Report) Check(c Condition) (Outcome, error) {
	if err := r.known(c); err != nil {
		return Outcome{}, err
	}
	o := Outcome{Condition: c, Text: c.Text, Change: r.change(c.figure)}
	o.Verdict = r.verdict(c, o.Change)
	return o, nil
}

// verdict compares the bound, which may have an error of its own, with what is
// new.
func (r *Report) verdict(c Condition, of Change) Verdict {
	bound, processes := c.limit(of.Base), r.processes()
	if c.kind == absolute {
		processes = r.New.Processes
	}
	beyond := of.New.Value - bound.Value
	if c.below {
		beyond = -beyond
	}
	limit := newChange(bound, of.New, processes)
	switch {
	case bound.none || of.New.none:
		return Nothing
	case beyond <= 0:
		return Holds
	case !limit.Judged:
		return TooFew
	case limit.P > unlikely:
		return Noise
	}
	return Beyond
}

// figure estimates what the condition is about.
func (c *Condition) figure(s *sample) Estimate {
	switch c.Figure {
	case "self":
		return s.function(c.Name).self.share
	case "total":
		return s.function(c.Name).total.share
	case "selfcpu":
		return s.function(c.Name).self.load
	case "totalcpu":
		return s.function(c.Name).total.load
	case "cpu":
		return s.load(s.allCells(), s.all)
	case "rate":
		return s.marker(c.Name).rate
	case "count":
		return s.marker(c.Name).count
	case "mean":
		return s.marker(c.Name).mean
	}
	return s.quantiles(c.Name, c.quantile)[0]
}

// limit is what the new figure is compared with.
func (c *Condition) limit(base Estimate) Estimate {
	switch c.kind {
	case relative:
		base.Value, base.Error = base.Value*(1+c.bound), base.Error*(1+c.bound)
	case difference:
		base.Value += c.bound
	case absolute:
		return Estimate{Value: c.bound}
	}
	return base
}

// known returns an error that lists what there is, if the name is not among it.
func (r *Report) known(c Condition) error {
	names, what := r.names(functionsOf), "function"
	if c.ofMarker() {
		names, what = r.names(markersOf), "marker"
	}
	switch {
	case c.Name == "" || slices.Contains(names, c.Name):
		return nil
	case len(names) == 0:
		return fmt.Errorf("%s: %w: there are no %ss", c.Text, ErrName, what)
	}
	return fmt.Errorf("%s: %w: no %s is %q; there are %s", c.Text, ErrName, what, c.Name, strings.Join(nearest(names, c.Name), ", "))
}

func (c *Condition) ofMarker() bool {
	i := slices.IndexFunc(figures, func(f struct {
		name string
		unit unit
	}) bool {
		return f.name == c.Figure
	})
	return i < 0 || figures[i].unit >= perSecond
}

// maxNames is how many names a message lists.
const maxNames = 8

// nearest returns the names that are most like the one that was meant, as a
// person may be shown them.
func nearest(names []string, meant string) []string {
	like := func(name string) int { return distance(strings.ToLower(last(name)), strings.ToLower(last(meant))) }
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(like(a), like(b)) })
	for i, name := range sorted {
		sorted[i] = stream.Printable(name)
	}
	if len(sorted) > maxNames {
		return append(sorted[:maxNames:maxNames], fmt.Sprintf("and %d more", len(sorted)-maxNames))
	}
	return sorted
}

// last is the end of a long name.
func last(s string) string { return s[max(0, len(s)-64):] }

// distance is how many letters differ (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
