package why

import (
	"fmt"

	"gprof/convert/why/internal/facts"
)

// retries finds a marker that comes far more often for each of another: calls that are tried again and again.
type retries struct{}

const (
	// retryFactor is how many times as many there must be for each of the other.
	retryFactor = 3

	// retryRegular is how many there must have been for each before, to be a part of it at all.
	retryRegular = 0.3

	// retryWork is how many times as often the other may come: what one of them takes does not depend on
	// how many there are, unless the program does something else.
	retryWork = 3

	// retryRise is how many times as often it must come itself, where nothing tells of failures: otherwise the
	// other may merely come less, as what has become slow does.
	retryRise = 1.5

	// retryMuch is how many must come in a second: a few calls more harm nobody.
	retryMuch = 10
)

func (retries) About() About {
	return About{
		Name: "retries", Looks: "how many markers of one name there are for each of another, and how many of them fail",
		Needs:     "markers",
		Threshold: "× 3 as many for each of a marker that comes at most × 3 as often as before, 10 a second; × 1.5 as many in all, or a cause if their fields tell of errors, or more errors are logged",
		EffectOf:  []string{"busy function"},
	}
}

// retryPairs is how many markers are compared with each other: those that took most time.
const retryPairs = 30

func (d retries) Find(p *Process) []Finding {
	var best Finding
	all := p.Markers[:min(retryPairs, len(p.Markers))]
	for _, inner := range all {
		for _, outer := range all {
			if inner == outer || inner.Count.Total() < fewMarkers || outer.Count.Total() < fewMarkers {
				continue
			}
			if f, ok := d.pair(p, inner, outer); ok && f.Explains > best.Explains {
				best = f
			}
		}
	}
	if best.Text == "" {
		return nil
	}
	return []Finding{best}
}

// pair compares one marker with another that may be its reason.
func (d retries) pair(p *Process, inner, outer *facts.Marker) (f Finding, ok bool) {
	each, known := facts.Series{}, [facts.Steps + 1]bool{}
	for step := range each {
		if known[step] = outer.Count[step] > 0; known[step] {
			each[step] = inner.Count[step] / outer.Count[step]
		}
	}
	c := p.Time.RiseOf(&each, &known, retryFactor)
	seldom, often := p.around(&inner.Count, c.At)
	before, after := p.around(&outer.Count, c.At)
	if !c.Clear || c.Before < retryRegular || often < retryMuch || after > retryWork*before {
		return f, false
	}
	f = Finding{
		Severity: Likely, Since: p.since(c.At), Explains: 1 - c.Before/c.After,
		Text:     fmt.Sprintf("%s is done %s times for each %s, %s before: it is tried again and again", inner.Name, digits(c.After), outer.Name, digits(c.Before)),
		Evidence: []string{p.after(c.At)},
		More:     p.command(append([]string{"top", "--by", "marker"}, p.from(c.At)...)...),
	}
	failed := ratio(inner.Failed.Sum(c.At, len(inner.Failed)), inner.Count.Sum(c.At, len(inner.Count)))
	if failed >= failedLeast {
		f.Severity = Cause
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s of them fail", percent(failed)))
	}
	if m := p.loudest(c.At); m != nil {
		f.Severity = Cause
		f.Evidence = append(f.Evidence, fmt.Sprintf("it logs %q", m.Text))
	}
	return f, f.Severity == Cause || often >= retryRise*seldom
}

// failedLeast is the share of failures that is more than the usual.
const failedLeast = 0.1

// loudest is the error or warning that is logged more often from about a step on; nil if none is.
func (p *Process) loudest(at int) *facts.Message {
	for _, m := range p.Messages { // those logged most first
		if before, after := p.around(&m.Count, at); m.Level != "INFO" && m.Level != "DEBUG" && after > retryFactor*before {
			return m
		}
	}
	return nil
}
