package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gprof/cmd/internal/human"
	"gprof/convert/list"
	"gprof/stream/wording"
)

// PrintList prints markers, a line each, and counters.
func PrintList(out io.Writer, r *list.Report) {
	var process, day string
	for _, m := range r.Markers {
		if m.Process != process {
			process = m.Process
			fmt.Fprintln(out, wording.Printable(process))
		}
		at := time.Unix(0, m.At).UTC()
		if d := at.Format(time.DateOnly); d != day {
			day = d
			fmt.Fprintln(out, day+" UTC")
		}
		fmt.Fprintf(out, "  %s  %-8s  %s\n", at.Format("15:04:05.000000"), tookText(&m), wording.Printable(markerText(&m)))
	}
	if left := r.Matching - int64(len(r.Markers)); left > 0 {
		fmt.Fprintf(out, "%d more match; -n 0 shows all\n", left)
	}
	for i := range r.Counters {
		if c := &r.Counters[i]; c.Process != process {
			process = c.Process
			fmt.Fprintln(out, wording.Printable(process))
		}
		printCounter(out, &r.Counters[i], len(r.Counters) <= maxCourses)
	}
}

// maxCourses is of how many counters all points are printed; of more the last alone.
const maxCourses = 4

func tookText(m *list.Marker) string {
	if m.Took < 0 {
		return strings.Replace(m.Phase, "instant", "-", 1)
	}
	return human.Time(m.Took)
}

// markerText is the name, what it tells, and where it stands.
func markerText(m *list.Marker) string {
	text := m.Name
	for _, f := range m.Fields {
		text += " " + f.Name + "=" + human.Word(f.Value)
	}
	return text + "  (" + m.Track + ")"
}

// printCounter prints what a counter was, and its course. Of a total that is what it gained since the first
// reading: what was before may be of another time.
func printCounter(out io.Writer, c *list.Counter, course bool) {
	base, last := int64(0), c.Points[len(c.Points)-1]
	if c.Total {
		base = c.First
		fmt.Fprintf(out, "  %s: +%s", wording.Printable(c.Name), valueText(c, last.Last-base))
	} else {
		fmt.Fprintf(out, "  %s: %s to %s, at last %s", wording.Printable(c.Name), valueText(c, c.Least), valueText(c, c.Most), valueText(c, last.Last))
	}
	fmt.Fprintf(out, " (%s in %s)\n", human.Plural(int(c.Readings), "reading"), human.Time(last.At-c.FirstAt))
	if !course {
		return
	}
	fmt.Fprintf(out, "    from %s UTC:", time.Unix(0, c.FirstAt).UTC().Format("2006-01-02 15:04:05.000"))
	for _, p := range c.Points {
		fmt.Fprintf(out, "  %.1fs %s", float64(p.At-c.FirstAt)/1e9, valueText(c, p.Last-base))
	}
	fmt.Fprintln(out)
}

// valueText is a value of a counter, in its unit.
func valueText(c *list.Counter, v int64) string {
	switch c.Unit {
	case "bytes":
		return human.Bytes(v)
	case "ns":
		return human.Time(v)
	}
	return fmt.Sprint(v)
}
