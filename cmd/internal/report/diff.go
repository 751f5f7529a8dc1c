package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"gprof/cmd/internal/human"
	"gprof/convert/compare"
	"gprof/stream/wording"
)

// PrintDiff prints a report for people; names are cut to fit into width.
func PrintDiff(out io.Writer, r *compare.Report, width int) {
	fmt.Fprintf(out, "base  %s\nnew   %s\n", summaryText(r.Base, r.Basis), summaryText(r.New, r.Basis))
	fmt.Fprintf(out, "%s: %s to %s, %s\n", loadText(r), loadFigure(r, r.All.Base.Value), loadFigure(r, r.All.New.Value), changeText(r.All, func(v float64) string { return loadFigure(r, v) }))
	if r.Pairs > 0 && r.Cost.Relative != nil {
		fmt.Fprintf(out, "CPU time of one process: %s\n", costText(r.Cost))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(out, "note: %s\n", wording.Printable(note))
	}
	if len(r.Functions) > 0 {
		fmt.Fprintln(out)
		lines := human.NewTable(out, width, "self", "new", "", "total", "new", "", "function")
		for _, f := range r.Functions {
			lines.Row(formatShare(f.Self.Base.Value), formatShare(f.Self.New.Value), changeText(f.Self, formatPoints),
				formatShare(f.Total.Base.Value), formatShare(f.Total.New.Value), changeText(f.Total, formatPoints), nameText(f.Name, f.Match))
		}
		lines.Flush()
	}
	if len(r.Markers) > 0 {
		fmt.Fprintln(out)
		lines := human.NewTable(out, width, "rate", "new", "", "p50", "new", "", "p99", "new", "", "marker")
		for _, m := range r.Markers {
			lines.Row(append(append(markerCells(m.Rate, formatRatePerSecond), markerCells(m.P50, formatSeconds)...),
				append(markerCells(m.P99, formatSeconds), m.Name)...)...)
		}
		lines.Flush()
	}
	if len(r.Counters) > 0 {
		fmt.Fprintln(out)
		lines := human.NewTable(out, width, "mean", "new", "", "counter")
		for _, c := range r.Counters {
			lines.Row(append(counterCells(c), c.Name)...)
		}
		lines.Flush()
	}
}

// nameText is the name of a function, and what it was in the base if that is something else.
func nameText(name string, m *compare.Match) string {
	if m == nil {
		return name
	}
	return name + " (" + m.Origin() + ")"
}

// costText is how the CPU time of a process changed.
func costText(c compare.Change) string {
	text := fmt.Sprintf("%s to %s", formatSeconds(c.Base.Value), formatSeconds(c.New.Value))
	if c.Relative != nil {
		text += ", " + formatFine(*c.Relative)
	}
	if c.Low != nil && c.High != nil {
		text += fmt.Sprintf(" (95 %%: %s to %s)", formatFine(*c.Low), formatFine(*c.High))
	}
	return text + star(c)
}

// counterCells are the figures of a counter and their change.
func counterCells(c *compare.Counter) []string {
	format := func(v float64) string { return counterText(c, v) }
	return []string{format(c.Value.Base.Value), format(c.Value.New.Value), changeText(c.Value, format)}
}

// counterText writes a figure of a counter in its unit.
func counterText(c *compare.Counter, v float64) string {
	text := fmt.Sprintf("%.4g", v)
	switch c.Unit {
	case "bytes":
		text = formatBytes(v)
	case "nanoseconds":
		text = formatSeconds(v / 1e9)
	}
	if c.Total {
		text += "/s"
	}
	return text
}

func markerCells(c compare.Change, format func(float64) string) []string {
	if c.Base.Value == 0 && c.New.Value == 0 {
		return []string{"-", "-", "-"}
	}
	return []string{format(c.Base.Value), format(c.New.Value), changeText(c, format)}
}

func summaryText(s compare.Summary, b compare.Basis) string {
	text := fmt.Sprintf("%s%s, %s in all, ", human.Plural(s.Processes, "process"), programsText(s.Programs), formatSeconds(s.Seconds))
	samples := human.Plural(int(s.Samples), "sample")
	switch b {
	case compare.CPU:
		return text + samples + " of " + formatSeconds(s.CPU) + " of CPU time"
	case compare.Heap:
		return text + formatBytes(s.Bytes) + " in use at the end"
	case compare.Allocations:
		return text + formatBytes(s.Bytes) + " allocated"
	case compare.Waits:
		return text + formatSeconds(s.Waits) + " of waiting"
	}
	return text + samples
}

// maxPrograms is the most programs that are named.
const maxPrograms = 3

func programsText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	text := " of " + wording.Printable(strings.Join(names[:min(maxPrograms, len(names))], ", "))
	if left := len(names) - maxPrograms; left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// loadText explains the figure of all samples.
func loadText(r *compare.Report) string {
	what := "samples"
	switch {
	case r.Basis == compare.CPU:
		what = "CPU time"
	case r.Basis == compare.Heap:
		return "bytes in use of one process"
	case r.Basis == compare.Allocations:
		what = "bytes allocated"
	case r.Basis == compare.Waits:
		what = "waiting"
	case r.Seconds:
		what = "time on the wall"
	}
	return what + " in a second of one process"
}

// changeText is a change with its error: "+12.3% ±4.5%", with a star if it is more than
// noise. One from nothing, of which there is no percentage, is in the figure's unit.
func changeText(c compare.Change, format func(float64) string) string {
	switch {
	case c.Base.Value == 0 && c.New.Value == 0:
		return "-"
	case oneSided(c) != "":
		return oneSided(c) + star(c)
	case c.Relative == nil:
		by, off := c.Difference()
		text := "+" + format(by)
		if off > 0 {
			text += " ±" + format(off)
		}
		return text + star(c)
	case c.Low != nil && c.High != nil:
		return fmt.Sprintf("%s ±%s%s", formatChange(*c.Relative), strings.TrimPrefix(formatChange((*c.High-*c.Low)/2), "+"), star(c))
	}
	return formatChange(*c.Relative) + star(c)
}

// oneSided is the change of something that only one of the sets has; "" if both have it.
func oneSided(c compare.Change) string {
	switch {
	case c.OnlyIn == "new":
		return "new"
	case c.OnlyIn == "base", c.Relative == nil && c.New.Value == 0:
		return "gone"
	}
	return ""
}

func star(c compare.Change) string {
	if c.Found {
		return "*"
	}
	return ""
}

// formatChange writes a part of a whole as a change in percent.
func formatChange(part float64) string {
	switch percent := 100 * part; {
	case math.Abs(percent) >= 1000:
		return fmt.Sprintf("%+.3g%%", percent)
	case math.Abs(percent) >= 100:
		return fmt.Sprintf("%+.0f%%", percent)
	default:
		return fmt.Sprintf("%+.1f%%", percent)
	}
}

// formatFine is formatChange with two digits more below 1 %, as of a process' cost.
func formatFine(part float64) string {
	if percent := 100 * part; math.Abs(percent) < 0.995 {
		return fmt.Sprintf("%+.2f%%", percent)
	}
	return formatChange(part)
}

func formatShare(part float64) string { return fmt.Sprintf("%.1f%%", 100*part) }

// formatPoints writes a difference of shares, as conditions have it.
func formatPoints(part float64) string { return fmt.Sprintf("%.1fpp", 100*part) }

func formatBytes(v float64) string { return human.Bytes(int64(min(v, 1e18))) }

// loadFigure writes what loadText explains.
func loadFigure(r *compare.Report, v float64) string {
	if r.Basis == compare.Heap || r.Basis == compare.Allocations {
		return formatBytes(v)
	}
	return formatLoad(v)
}

func formatLoad(v float64) string { return fmt.Sprintf("%.4g", v) }

func formatRatePerSecond(v float64) string { return fmt.Sprintf("%.4g/s", v) }

func formatSeconds(v float64) string { return human.Time(int64(math.Round(min(v, 1e9) * 1e9))) }

// figureText writes a figure of a condition in its unit.
func figureText(figure string, v float64) string {
	switch figure {
	case "self", "total":
		return formatShare(v)
	case "rate":
		return formatRatePerSecond(v)
	case "selfcpu", "totalcpu", "cpu", "count":
		return formatLoad(v)
	}
	return formatSeconds(v)
}

// OutcomeText says how a condition turned out, why, and what would have been found.
func OutcomeText(o compare.Outcome) string {
	c, figure := o.Change, o.Condition.Figure
	was := fmt.Sprintf("from %s to %s", figureText(figure, c.Base.Value), figureText(figure, c.New.Value))
	switch name := wording.Printable(nameText(o.Name, o.Match)); {
	case o.Of > 0:
		was = fmt.Sprintf("of %d, %s: %s", o.Of, name, was)
	case o.Match != nil:
		was = name + ": " + was
	}
	if c.Relative != nil {
		was += fmt.Sprintf(", %s", formatFine(*c.Relative))
	}
	if c.Low != nil && c.High != nil {
		was += fmt.Sprintf(" (95 %%: %s to %s)", formatFine(*c.Low), formatFine(*c.High))
	}
	switch o.Verdict {
	case compare.Nothing:
		return "one of the sets has no such figure, so it does not fail"
	case compare.Noise:
		return was + "; it may be noise, so it does not fail" + powerText(&o)
	case compare.TooFew:
		return was + "; too few processes tell whether that is noise, so it does not fail: record at least 3 in each set"
	case compare.Beyond:
		return was + ", which is more than noise" + powerText(&o)
	}
	if !c.Judged {
		return was + ", within the bound, as far as so few processes tell: record at least 3 in each set"
	}
	return was + ", within the bound" + powerText(&o)
}

// powerText says which change would have been found, and what would find less.
func powerText(o *compare.Outcome) string {
	if o.Findable == nil {
		return ""
	}
	text := "; "
	if o.Of > 0 {
		text += "in the largest, which have half of all, "
	}
	text += o.Condition.BoundText(*o.Findable, formatFine, func(v float64) string { return figureText(o.Condition.Figure, v) }) + " would have been found in 19 of 20 such gates"
	if o.Needed > 0 {
		text += fmt.Sprintf(", twice the bound with %s in each set", human.Plural(o.Needed, "process"))
	}
	return text
}
