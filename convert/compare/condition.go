package compare

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
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
