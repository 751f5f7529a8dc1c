package report

import (
	"fmt"
	"io"

	"gprof/cmd/internal/human"
	"gprof/convert/top"
	"gprof/stream/wording"
)

// PrintTop prints what took most; names are cut to fit into width.
func PrintTop(out io.Writer, t *top.Table, width int) {
	if t.By == top.Marker {
		printTopMarkers(out, t, width)
	} else {
		printTopSamples(out, t, width)
	}
}

func printTopSamples(out io.Writer, t *top.Table, width int) {
	timed := t.Timed()
	all := t.All.Value(timed)
	if timed {
		fmt.Fprintf(out, "%s of CPU time in %s\n", human.Time(all), human.Plural(int(t.All.Samples), "sample"))
	} else {
		fmt.Fprintln(out, human.Plural(int(t.All.Samples), "sample"))
	}
	amount := func(a top.Amount) string {
		if timed {
			return human.Time(a.CPU)
		}
		return fmt.Sprint(a.Samples)
	}
	lines := human.NewTable(out, width, "self", "%", "total", "%", t.By)
	for _, r := range t.Rows {
		lines.Row(amount(r.Self), human.Share(r.Self.Value(timed), all), amount(r.Total), human.Share(r.Total.Value(timed), all), r.Name)
	}
	lines.Flush()
}

func printTopMarkers(out io.Writer, t *top.Table, width int) {
	lines := human.NewTable(out, width, "count", "time", "p50", "p99", "max", t.By)
	for _, r := range t.Markers {
		took := []string{"-", "-", "-", "-"}
		if r.Timed > 0 {
			took = []string{human.Time(r.All), human.Time(r.P50), human.Time(r.P99), human.Time(r.Max)}
		}
		lines.Row(append(append([]string{fmt.Sprint(r.Count)}, took...), r.Name)...)
	}
	lines.Flush()
	printExemplars(out, t.Markers)
}

// maxExemplars is of how many kinds of markers the slowest traces are printed.
const maxExemplars = 3

func printExemplars(out io.Writer, markers []top.MarkerRow) {
	printed := 0
	for _, r := range markers {
		if len(r.Slowest) == 0 || printed == maxExemplars {
			continue
		}
		if printed++; printed == 1 {
			fmt.Fprintln(out, "\nslowest, each to be seen with --trace ID")
		}
		for _, x := range r.Slowest {
			fmt.Fprintf(out, "  %s  %s  %s\n", x.Trace, human.Time(x.Took), wording.Printable(r.Name))
		}
	}
}
