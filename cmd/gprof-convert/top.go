package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"gprof/convert/top"
	"gprof/stream"
)

type topCmd struct {
	Inputs []string `arg:"" name:"input" help:"${inputs}"`
	By     string   `default:"${way}" enum:"${ways}" placeholder:"WHAT" help:"What to sum up by: ${enum}."`
	Rows   int      `short:"n" default:"20" placeholder:"N" help:"How many rows to show; 0 is all. Default: ${default}."`
	JSON   bool     `name:"json" help:"Print JSON, with both samples and CPU time."`
	conversion
}

func (c *topCmd) Help() string {
	return `Examples:
  gprof-convert top out/session
  gprof-convert top --by package -n 10 out/session
  gprof-convert top --by marker --last 1m 'dumps/*.gprof'
  gprof-convert top --json out/session | jq -r '.rows[0].name'

Self is what a function took by itself, total is that with all that it called; a
function that calls itself has each sample once. Both are CPU time where it is
known of all samples, else samples. Of markers there are number, time, and the
durations that half of them, 99 of 100 and all of them stayed within.`
}

// Run prints the table.
func (c *topCmd) Run(s *streams) error {
	c.apply()
	if c.Rows < 0 {
		return &exitError{exitUsage, fmt.Errorf("--rows %d: want a number of rows, or 0 for all", c.Rows)}
	}
	sink, err := top.New(c.By)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	found, err := c.open(s, c.Inputs)
	if err != nil {
		return err
	}
	read, err := c.sum(s, found, sink)
	if err != nil {
		return err
	}
	if err := c.print(s, sink.Table); err != nil {
		return err
	}
	c.tell(s, "", read)
	if c.By != top.Marker && !c.Quiet {
		s.hintUnseen(read.unseen)
	}
	return c.judgeAll(read)
}

func (c *topCmd) print(s *streams, t *top.Table) error {
	rows, markers := len(t.Rows), len(t.Markers)
	if c.Rows > 0 {
		t.Rows, t.Markers = t.Rows[:min(c.Rows, rows)], t.Markers[:min(c.Rows, markers)]
	}
	if c.JSON {
		return writeJSON(s.stdout, t)
	}
	if t.By == top.Marker {
		printTopMarkers(s.stdout, t, s.width())
	} else {
		printTop(s.stdout, t, s.width())
	}
	if left := rows + markers - len(t.Rows) - len(t.Markers); left > 0 {
		fmt.Fprintf(s.stdout, "%d more; -n 0 shows all\n", left)
	}
	return nil
}

// printTop prints what took most samples; names are cut to fit into width.
func printTop(out io.Writer, t *top.Table, width int) {
	timed := t.Timed()
	all := t.All.Value(timed)
	if timed {
		fmt.Fprintf(out, "%s of CPU time in %s\n", formatTime(all), count(int(t.All.Samples), "sample"))
	} else {
		fmt.Fprintln(out, count(int(t.All.Samples), "sample"))
	}
	amount := func(a top.Amount) string {
		if timed {
			return formatTime(a.CPU)
		}
		return fmt.Sprint(a.Samples)
	}
	lines := newTable(out, width, "self", "%", "total", "%", t.By)
	for _, r := range t.Rows {
		lines.row(amount(r.Self), share(r.Self.Value(timed), all), amount(r.Total), share(r.Total.Value(timed), all), r.Name)
	}
	lines.flush()
}

func printTopMarkers(out io.Writer, t *top.Table, width int) {
	lines := newTable(out, width, "count", "time", "p50", "p99", "max", t.By)
	for _, r := range t.Markers {
		took := []string{"-", "-", "-", "-"}
		if r.Timed > 0 {
			took = []string{formatTime(r.All), formatTime(r.P50), formatTime(r.P99), formatTime(r.Max)}
		}
		lines.row(append(append([]string{fmt.Sprint(r.Count)}, took...), r.Name)...)
	}
	lines.flush()
}

// share is a part of all in per cent.
func share(part, all int64) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(all))
}

// formatTime writes a duration in ns with three digits or a little more.
func formatTime(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d == 0:
		return "0"
	case d >= 10*time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2fms", float64(d)/1e6)
	case d >= time.Microsecond:
		return fmt.Sprintf("%.2fµs", float64(d)/1e3)
	}
	return fmt.Sprintf("%dns", ns)
}

// table is lines of numbers with a name behind them.
type table struct {
	out   io.Writer
	width int // 0: as wide as need be
	rows  [][]string
}

func newTable(out io.Writer, width int, head ...string) *table {
	return &table{out, width, [][]string{head}}
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// flush prints the rows, and cuts the names that would not fit.
func (t *table) flush() {
	var numbers strings.Builder
	w := tabwriter.NewWriter(&numbers, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range t.rows {
		fmt.Fprintln(w, strings.Join(r[:len(r)-1], "\t")+"\t")
	}
	w.Flush()
	i := 0
	for line := range strings.Lines(numbers.String()) {
		line = strings.TrimSuffix(line, "\n") + "  "
		name := stream.Printable(t.rows[i][len(t.rows[i])-1])
		if t.width > 0 {
			name = cutFront(name, t.width-len([]rune(line)))
		}
		fmt.Fprintln(t.out, line+name)
		i++
	}
}

// minName is how much of a name is shown on the narrowest terminal.
const minName = 16

// cutFront makes a text fit: the end of a name says more than its beginning.
func cutFront(s string, width int) string {
	runes := []rune(s)
	width = max(width, minName)
	if len(runes) <= width {
		return s
	}
	return "…" + string(runes[len(runes)-width+1:])
}
