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
	"sync"
	"time"

	"gprof/stream/wording"
)

// Condition limits what may change, such as
//
//	p99(http.request) > +10%
//
// A bound with a sign is one of the change: in percent, or in units. Without a sign it is one of
// the new figure. The name * stands for all functions, or markers, one by one.
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
}{{"self", shares}, {"total", shares}, {"selfcpu", cores}, {"totalcpu", cores}, {"cpu", cores}, {costFigure, seconds}, {"rate", perSecond}, {"count", times}, {"mean", seconds}}

const costFigure = "cost"

// Figures lists what a condition may be about.
const Figures = "cost() of a process, cost (of a marker), self, total, selfcpu, totalcpu (of a function), cpu() of all, rate, count, mean, p50, p99, p99.9 (of a marker)"

// example is part of every message about conditions.
const example = `want one such as "p99(http.request) > +10%", "self(main.work) > +5%", "rate(order) < 100/s"`

var form = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([a-z0-9.]+)\s*\((.*)\)\s*([<>])=?\s*(\S(?:.*\S)?)\s*$`)
})

// IsCondition reports whether a text is meant as a condition.
func IsCondition(text string) bool { return strings.ContainsAny(text, "<>(") }

// ParseCondition parses a condition. The error is [ErrCondition].
func ParseCondition(text string) (Condition, error) {
	c := Condition{Text: strings.TrimSpace(text)}
	part := form().FindStringSubmatch(text)
	if part == nil {
		return c, fmt.Errorf("%w: %q; %s", ErrCondition, text, example)
	}
	c.Figure, c.Name, c.below = part[1], strings.TrimSpace(part[2]), part[3] == "<"
	u, err := c.unit()
	if err != nil {
		return c, err
	}
	if c.Figure != costFigure && (c.Figure == "cpu") != (c.Name == "") {
		return c, fmt.Errorf("%w: %q: %s", ErrCondition, text, map[bool]string{true: "cpu() is of all functions, for one it is totalcpu", false: "a name is missing between the brackets"}[c.Figure == "cpu"])
	}
	if err := c.parseBound(part[4], u); err != nil {
		return c, fmt.Errorf("%w: %q: %w", ErrCondition, text, err)
	}
	return c, nil
}

// BoundText writes a value in the way of the condition's bound: as a change in percent, as one in the figure's
// unit, or as a figure.
func (c *Condition) BoundText(v float64, change, figure func(float64) string) string {
	switch {
	case c.kind == relative:
		return change(v)
	case c.kind == difference && v >= 0:
		return "+" + figure(v)
	case c.kind == difference:
		return "-" + figure(-v)
	}
	return figure(v)
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

// figure estimates the condition's figure.
func (c *Condition) figure(s *sample) Estimate {
	if c.quantile > 0 {
		return s.quantiles(c.Name, c.quantile)[0]
	}
	f := c.fraction(s)
	return s.ratio(f.value, s.sum(f.value), f.of.sum, f.floor)
}

// fraction is what a figure is made of, by process.
func (c *Condition) fraction(s *sample) fraction {
	switch c.Figure {
	case "self":
		return s.share(s.cellsOf(c.Name, selfOf))
	case "total":
		return s.share(s.cellsOf(c.Name, totalOf))
	case "selfcpu":
		return s.load(s.cellsOf(c.Name, selfOf))
	case "totalcpu":
		return s.load(s.cellsOf(c.Name, totalOf))
	case "cpu":
		return s.load(s.all.cells)
	case costFigure:
		return s.cost(c.Name)
	case "rate":
		return fraction{value: s.markerCells(c.Name, countOf), of: s.seconds}
	case "count":
		return fraction{value: s.markerCells(c.Name, countOf), of: s.count}
	}
	return fraction{value: s.markerCells(c.Name, timeOf), of: s.parts(s.markerCells(c.Name, timedOf))}
}

// each is the figure of each process, NaN where there is none.
func (c *Condition) each(s *sample) []float64 {
	value, of := make([]float64, len(s.set.processes)), make([]float64, len(s.set.processes))
	if c.quantile > 0 {
		for _, at := range s.markers[c.Name] {
			took := &s.set.processes[at.process].markers[at.at].Took
			value[at.process], of[at.process] = float64(took.Quantile(c.quantile)), 1e9
		}
	} else {
		f := c.fraction(s)
		for _, cell := range f.value {
			value[cell.process] += cell.value
		}
		for _, cell := range f.of.cells {
			of[cell.process] += cell.value
		}
	}
	for i := range value {
		value[i] /= of[i]
	}
	return value
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
	case len(names) == 0 && c.Name != "":
		return fmt.Errorf("%s: %w: there are no %ss", c.Text, ErrName, what)
	case c.Name == "" || c.Name == allNames || slices.Contains(names, c.Name):
		return nil
	}
	return fmt.Errorf("%s: %w: no %s is %q; there are %s", c.Text, ErrName, what, c.Name, strings.Join(nearest(names, c.Name), ", "))
}

// allNames stands for each of them.
const allNames = "*"

// ErrName is the error of a condition about a name in neither set.
var ErrName = errors.New("in neither set")

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
