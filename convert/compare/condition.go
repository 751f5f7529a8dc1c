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

	"gprof/convert/internal/chance"
	"gprof/stream/wording"
)

// Condition limits what may change, such as
//
//	p99(http.request) > +10%
//
// A bound with a sign is one of the change: in percent, or in units. Without a sign it is one of
// the new figure.
type Condition struct {
	Text   string // as it was given
	Figure string // as "p99"
	Name   string // of the function or the markers

	quantile float64 // if the figure is one
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

// ErrCondition is the error of a malformed condition.
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

// figures are all besides quantiles, in the order of messages.
var figures = []struct {
	name string
	unit unit
}{{"self", shares}, {"total", shares}, {"selfcpu", cores}, {"totalcpu", cores}, {"cpu", cores}, {"rate", perSecond}, {"count", times}, {"mean", seconds}}

// Figures lists what a condition may be about.
const Figures = "self, total, selfcpu, totalcpu (of a function), cpu() of all, rate, count, mean, p50, p99, p99.9 (of a marker)"

// example is part of every message about conditions.
const example = `want one such as "p99(http.request) > +10%", "self(main.work) > +5%", "rate(order) < 100/s"`

var form = regexp.MustCompile(`^\s*([a-z0-9.]+)\s*\((.*)\)\s*([<>])=?\s*(\S(?:.*\S)?)\s*$`)

// IsCondition reports whether a text is meant as a condition.
func IsCondition(text string) bool { return strings.ContainsAny(text, "<>(") }

// ParseCondition parses a condition. The error is [ErrCondition].
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

// parseBound parses what follows the comparison sign.
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

// parse parses a number with its unit.
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

// ErrName is the error of a condition about a name in neither set.
var ErrName = errors.New("in neither set")

// Verdict is the result of a condition.
type Verdict int

const (
	Holds   Verdict = iota // the figure is within the bound
	Nothing                // there is no such figure, as for markers without a duration
	Noise                  // beyond the bound, but its interval is not
	TooFew                 // beyond the bound, with too few processes to judge
	Beyond                 // its interval is beyond the bound
)

// Outcome is a condition and its result.
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

// Check evaluates a condition. The error is [ErrName] if the name is in neither set.
func (r *Report) Check(c Condition) (Outcome, error) {
	if err := r.known(c); err != nil {
		return Outcome{}, err
	}
	o := Outcome{Condition: c, Text: c.Text, Change: r.change(c.figure)}
	o.Verdict = r.verdict(c, o.Change)
	return o, nil
}

// verdict compares the bound, which may have an error, with the new figure.
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
	case limit.P > chance.Unlikely:
		return Noise
	}
	return Beyond
}

// figure estimates the condition's figure.
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

// known returns an error that lists the known names, if the name is not among them.
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

// maxNames bounds the names in a message.
const maxNames = 8

// nearest returns the names most like the given one, made printable.
func nearest(names []string, meant string) []string {
	like := func(name string) int { return distance(strings.ToLower(last(name)), strings.ToLower(last(meant))) }
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(like(a), like(b)) })
	for i, name := range sorted {
		sorted[i] = wording.Printable(name)
	}
	if len(sorted) > maxNames {
		return append(sorted[:maxNames:maxNames], fmt.Sprintf("and %d more", len(sorted)-maxNames))
	}
	return sorted
}

// last is the end of a long name.
func last(s string) string { return s[max(0, len(s)-64):] }

// distance is the Levenshtein distance.
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
