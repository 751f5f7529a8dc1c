package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gprof/stream"
)

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
