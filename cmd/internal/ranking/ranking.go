// Package ranking writes tables of what took most for people: of functions, markers and counters.
package ranking

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gprof/cmd/internal/human"
	"gprof/convert/top"
	"gprof/stream"
	"gprof/stream/wording"
)

// Print prints what took most; names are cut to fit into width.
func Print(out io.Writer, t *top.Table, width int) {
	switch t.By {
	case top.Marker:
		printTopMarkers(out, t, width)
	case top.Counter:
		printTopCounters(out, t, width)
	default:
		printTopStacks(out, t, width)
	}
}

func printTopStacks(out io.Writer, t *top.Table, width int) {
	fmt.Fprintln(out, Total(t))
	printAges(out, t)
	lines := human.NewTable(out, width, "self", "%", "total", "%", t.By)
	all := t.Value(t.All)
	for _, r := range t.Rows {
		lines.Row(Amount(t, r.Self), human.Share(t.Value(r.Self), all), Amount(t, r.Total), human.Share(t.Value(r.Total), all), r.Name)
	}
	lines.Flush()
}

// Total says what all of a table is.
func Total(t *top.Table) string {
	amount := Amount(t, t.All)
	switch t.Of {
	case top.Heap:
		if len(t.Ages) > 0 && !slices.ContainsFunc(t.Ages, func(a top.Age) bool { return a.Heap != nil }) {
			return amount + " of the heap in what was read"
		}
		return amount + " of the heap in use at the end"
	case top.Allocations:
		return amount + " allocated"
	case top.Waits:
		return amount + " of waiting, of all goroutines together"
	}
	if t.Measured() {
		return amount + " of " + t.Of
	}
	samples := human.Plural(int(t.All.Samples), "sample")
	if t.Timed() {
		return amount + " of CPU time in " + samples
	}
	return samples
}

// Amount writes what counts of an amount.
func Amount(t *top.Table, a top.Amount) string {
	switch v := t.Value(a); {
	case t.Of == top.Heap || t.Of == top.Allocations:
		return human.Bytes(v)
	case t.Measured():
		return Quantity(float64(v), t.Unit)
	case t.Of == top.Waits || t.Timed():
		return human.Time(v)
	default:
		return fmt.Sprint(v)
	}
}

// maxAges is of how many processes the age of what is shown is printed.
const maxAges = 3

func printAges(out io.Writer, t *top.Table) {
	for i, a := range t.Ages {
		if i == maxAges {
			fmt.Fprintf(out, "  and %s more; --json has them\n", human.Plural(len(t.Ages)-i, "process"))
			break
		}
		text := "as of " + human.Time(max(0, a.End-a.Seen)) + " before the end"
		switch {
		case a.Heap != nil:
			text = "as of " + wording.Heap(a.Heap, stream.Time(a.End))
		case t.Of == top.Heap:
			text += "; what was allocated and not freed in what was read"
		}
		fmt.Fprintf(out, "  %s: %s\n", wording.Printable(a.Process), text)
	}
}

func printTopCounters(out io.Writer, t *top.Table, width int) {
	several := false
	for _, r := range t.Counters {
		several = several || r.Process != t.Counters[0].Process
	}
	lines := human.NewTable(out, width, "last", "least", "mean", "most", t.By)
	for _, r := range t.Counters {
		name := r.Name
		if several {
			name += "  (" + r.Process + ")"
		}
		rate := human.OnlyIf(r.Total, "/s")
		lines.Row(Quantity(float64(r.Last), r.Unit), Quantity(r.Least, r.Unit)+rate, Quantity(r.Mean, r.Unit)+rate, Quantity(r.Most, r.Unit)+rate, name)
	}
	lines.Flush()
}

// Quantity writes a value of a counter in its unit, "bytes", "ns" or "".
func Quantity(v float64, unit string) string {
	switch unit {
	case "bytes":
		return human.OnlyIf(v < 0, "-") + human.Bytes(int64(math.Abs(v)))
	case "ns":
		return human.OnlyIf(v < 0, "-") + human.Time(int64(math.Abs(v)))
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
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
