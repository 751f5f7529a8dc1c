package report

import (
	"fmt"
	"io"
	"strings"

	"gprof/cmd/internal/human"
	"gprof/convert/slow"
	"gprof/stream/wording"
)

// How much of a comparison is printed, so that it fits on one screen.
const (
	slowPlaces = 5
	slowTraits = 4
	slowNames  = 3
)

// PrintSlow prints where the time of slow intervals went; names are cut to fit into width.
func PrintSlow(out io.Writer, r *slow.Report, width int) {
	printSlowNames(out, r)
	lines := human.NewTable(out, width, fmt.Sprintf("slow (%d)", r.Slow.Intervals), "%", fmt.Sprintf("rest (%d)", r.Rest.Intervals), "%", "on average")
	lines.Row(each(r.Slow.Wall, r.Slow), human.Share(r.Slow.Wall, r.Slow.Wall), each(r.Rest.Wall, r.Rest), human.Share(r.Rest.Wall, r.Rest.Wall), "all")
	for _, p := range r.Split {
		if p.Slow.Sum() == 0 && p.Rest.Sum() == 0 {
			continue
		}
		lines.Row(amountOf(p.Slow, r.Slow), percentOf(p.Slow.Share)+human.OnlyIf(p.Found, "*"), amountOf(p.Rest, r.Rest), percentOf(p.Rest.Share), p.Name)
	}
	lines.Flush()
	printSlowPlaces(out, r, width)
	printSlowTraits(out, r)
	printSlowRest(out, r)
}

// printSlowNames prints which intervals were compared.
func printSlowNames(out io.Writer, r *slow.Report) {
	for i, n := range r.Names {
		if i == slowNames {
			fmt.Fprintf(out, "and %s\n", human.Plural(len(r.Names)-i, "more name"))
			break
		}
		text := fmt.Sprintf("%s: %d of %s", wording.Printable(n.Name), n.Slow, human.Plural(int(n.Intervals), "interval"))
		if n.Threshold >= 0 {
			text += fmt.Sprintf("; the percentile is %s", human.Time(n.Threshold))
		}
		fmt.Fprintf(out, "%s; longest %s\n", text, human.Time(n.Longest))
	}
	fmt.Fprintf(out, "of the slow ones' time, %.0f %% is exact, %.0f %% estimated from samples\n\n", shareOf(r.Slow.Exact, r.Slow.Wall), shareOf(r.Slow.Estimated, r.Slow.Wall))
}

func shareOf(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

func percentOf(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// each is a group's time for one of its intervals.
func each(ns int64, g slow.Group) string {
	if g.Intervals == 0 {
		return "-"
	}
	return human.Time(ns / g.Intervals)
}

// amountOf is a part of a group's time for one of its intervals, with its error.
func amountOf(a slow.Amount, g slow.Group) string {
	text := each(a.Sum(), g)
	if a.Error > 0 {
		text += " ±" + each(a.Error, g)
	}
	return text
}

func printSlowPlaces(out io.Writer, r *slow.Report, width int) {
	if len(r.More) == 0 {
		return
	}
	fmt.Fprintln(out)
	lines := human.NewTable(out, width, "slow", "%", "rest", "%", "more in slow ones")
	for _, e := range r.More[:min(len(r.More), slowPlaces)] {
		lines.Row(human.Time(int64(e.Slow))+human.OnlyIf(e.Estimated, "~"), percentOf(e.SlowShare)+human.OnlyIf(e.Found, "*"), human.Time(int64(e.Rest)), percentOf(e.RestShare), e.Part+": "+wording.Printable(e.Place))
		for _, by := range e.By[:min(len(e.By), 1)] {
			lines.Row("", "", "", "", fmt.Sprintf("  ended %d times by %s", by.Count, wording.Printable(by.Place)))
		}
	}
	lines.Flush()
}

func printSlowTraits(out io.Writer, r *slow.Report) {
	printed := 0
	for _, t := range r.Traits {
		if !t.Found || printed == slowTraits {
			continue
		}
		if printed++; printed == 1 {
			fmt.Fprintln(out)
		}
		name := t.Kind
		if t.Name != "" {
			name += " " + t.Name
		}
		fmt.Fprintf(out, "%s of the slow ones, %s of the rest: %s = %s (p %.2g)\n", human.Share(t.Slow, r.Slow.Intervals), human.Share(t.Rest, r.Rest.Intervals),
			wording.Printable(name), wording.Printable(t.Value), t.P)
	}
}

// printSlowRest prints traces, what has not ended, and what is not known.
func printSlowRest(out io.Writer, r *slow.Report) {
	if len(r.Traces) > 0 {
		var ids []string
		for _, t := range r.Traces {
			ids = append(ids, fmt.Sprintf("%s (%s)", t.ID, human.Time(t.Took)))
		}
		fmt.Fprintf(out, "\nslowest traces, each to be seen with --trace ID: %s\n", strings.Join(ids, ", "))
	}
	if n := r.Open.Intervals; n > 0 {
		count := "count"
		if n == 1 {
			count = "counts"
		}
		fmt.Fprintf(out, "%d more never ended, and %s nowhere else: the longest was still running after %s\n", n, count, human.Time(r.Open.Longest))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(out, "not known: %s\n", wording.Printable(note))
	}
}
