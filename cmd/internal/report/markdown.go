package report

import (
	"fmt"
	"io"
	"strings"

	"gprof/cmd/internal/human"
	"gprof/convert/compare"
	"gprof/stream/wording"
)

// PrintMarkdown prints a report for a review: the findings, and the rest folded.
func PrintMarkdown(out io.Writer, r *compare.Report, outcomes []compare.Outcome) {
	found := foundLines(r)
	fmt.Fprintf(out, "**gprof:** %s\n\n", verdictText(r, len(found)))
	for _, o := range outcomes {
		fmt.Fprintf(out, "- %s %s: %s\n", outcomeMark(o.Verdict), code(o.Text), OutcomeText(o))
	}
	if len(outcomes) > 0 {
		fmt.Fprintln(out)
	}
	if len(found) > 0 {
		fmt.Fprintln(out, "| what | base | new | change (95 %) |\n|---|--:|--:|--:|")
		fmt.Fprintln(out, strings.Join(found, "\n")+"\n")
	}
	fmt.Fprintf(out, "<details><summary>All that was compared</summary>\n\nbase: %s  \nnew: %s  \n%s: %s to %s, %s\n", plain(summaryText(r.Base, r.Basis)), plain(summaryText(r.New, r.Basis)),
		loadText(r), loadFigure(r, r.All.Base.Value), loadFigure(r, r.All.New.Value), cell(changeText(r.All, func(v float64) string { return loadFigure(r, v) })))
	if r.Pairs > 0 && r.Cost.Relative != nil {
		fmt.Fprintf(out, "\nCPU time of one process: %s\n", cell(costText(r.Cost)))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(out, "\n*%s*\n", note)
	}
	markdownFunctions(out, r.Functions)
	markdownMarkers(out, r.Markers)
	markdownCounters(out, r.Counters)
	fmt.Fprintln(out, "\n</details>")
}

func verdictText(r *compare.Report, found int) string {
	switch {
	case !r.Judged:
		return "too few processes to tell changes from noise"
	case found == 0:
		return "no change beyond the noise"
	}
	return human.Plural(found, "change") + " beyond the noise"
}

func outcomeMark(v compare.Verdict) string {
	return map[compare.Verdict]string{compare.Holds: "✅", compare.Nothing: "❔", compare.Noise: "❔", compare.TooFew: "❔", compare.Beyond: "❌"}[v]
}

// foundLines are rows for changes that are more than noise.
func foundLines(r *compare.Report) (lines []string) {
	row := func(what, name string, c compare.Change, format, difference func(float64) string) {
		if c.Found {
			lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s |", strings.TrimSpace(what+" "+name), format(c.Base.Value), format(c.New.Value), rangeText(c, difference)))
		}
	}
	add := func(what, name string, c compare.Change, format func(float64) string) {
		row(what, name, c, format, format)
	}
	add("CPU time of one process", "", r.Cost, formatSeconds)
	add(loadText(r), "", r.All, func(v float64) string { return loadFigure(r, v) })
	for _, f := range r.Functions {
		name := codeCell(nameText(f.Name, f.Match))
		row("self", name, f.Self, formatShare, formatPoints)
		if !f.Leaf() || !f.Self.Found {
			row("total", name, f.Total, formatShare, formatPoints)
		}
	}
	for _, m := range r.Markers {
		add("rate", codeCell(m.Name), m.Rate, formatRatePerSecond)
		add("p50", codeCell(m.Name), m.P50, formatSeconds)
		add("p99", codeCell(m.Name), m.P99, formatSeconds)
	}
	for _, c := range r.Counters {
		add("counter", codeCell(c.Name), c.Value, func(v float64) string { return counterText(c, v) })
	}
	return lines
}

// rangeText is a change and the ends of its interval; one from nothing is in the figure's unit.
func rangeText(c compare.Change, format func(float64) string) string {
	switch {
	case oneSided(c) != "":
		return oneSided(c)
	case c.Relative == nil:
		by, off := c.Difference()
		return fmt.Sprintf("**+%s** (+%s to +%s)", format(by), format(by-off), format(by+off))
	case c.Low == nil || c.High == nil:
		return "**" + formatChange(*c.Relative) + "**"
	}
	return fmt.Sprintf("**%s** (%s to %s)", formatChange(*c.Relative), formatChange(*c.Low), formatChange(*c.High))
}

func markdownFunctions(out io.Writer, functions []*compare.Function) {
	if len(functions) == 0 {
		return
	}
	fmt.Fprintln(out, "\n| function | self | new | | total | new | |\n|---|--:|--:|--:|--:|--:|--:|")
	for _, f := range functions {
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s |\n", codeCell(nameText(f.Name, f.Match)), formatShare(f.Self.Base.Value), formatShare(f.Self.New.Value), cell(changeText(f.Self, formatPoints)),
			formatShare(f.Total.Base.Value), formatShare(f.Total.New.Value), cell(changeText(f.Total, formatPoints)))
	}
}

func markdownMarkers(out io.Writer, markers []*compare.Marker) {
	if len(markers) == 0 {
		return
	}
	fmt.Fprintln(out, "\n| marker | rate | new | | p50 | new | | p99 | new | |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, m := range markers {
		cells := append(append(markerCells(m.Rate, formatRatePerSecond), markerCells(m.P50, formatSeconds)...), markerCells(m.P99, formatSeconds)...)
		for i := range cells {
			cells[i] = cell(cells[i])
		}
		fmt.Fprintf(out, "| %s | %s |\n", codeCell(m.Name), strings.Join(cells, " | "))
	}
}

func markdownCounters(out io.Writer, counters []*compare.Counter) {
	if len(counters) == 0 {
		return
	}
	fmt.Fprintln(out, "\n| counter | mean | new | |\n|---|--:|--:|--:|")
	for _, c := range counters {
		cells := counterCells(c)
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", codeCell(c.Name), cells[0], cells[1], cell(cells[2]))
	}
}

// plain escapes a text of a recording so that nothing in it is Markdown.
func plain(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", "&lt;", "@", "&#64;", "#", `\#`).Replace(s)
}

// cell escapes stars.
func cell(s string) string { return strings.ReplaceAll(s, "*", `\*`) }

// code is a text of a recording as code, in which nothing is Markdown.
func code(s string) string {
	if s = strings.ReplaceAll(wording.Printable(s), "`", "'"); strings.TrimSpace(s) == "" {
		return "` `"
	}
	return "`" + s + "`"
}

// codeCell is code in a table, where a bar would begin a new cell.
func codeCell(s string) string { return strings.ReplaceAll(code(s), "|", `\|`) }
