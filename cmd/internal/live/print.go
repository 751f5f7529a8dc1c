package live

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"gprof/cmd/internal/human"
	"gprof/cmd/internal/ranking"
	"gprof/cmd/internal/session"
	"gprof/stream/wording"
)

// Print writes a view for people, with at most so many rows of what took most, 0: all. Lines fit into width, if
// that is not 0.
func (v *View) Print(out io.Writer, rows, width int) {
	v.printHead(out)
	v.printProcesses(out, width)
	t := *v.Top
	if rows > 0 {
		t.Rows = t.Rows[:min(rows, len(t.Rows))]
	}
	fmt.Fprintln(out)
	ranking.Print(out, &t, width)
	if left := len(v.Top.Rows) - len(t.Rows); left > 0 {
		fmt.Fprintf(out, "%d more; -n 0 shows all\n", left)
	}
	v.printSlow(out, width)
}

func (v *View) printHead(out io.Writer) {
	use := session.Size(v.Held)
	if v.Limit > 0 {
		use += " of " + session.Size(v.Limit)
	}
	fmt.Fprintf(out, "%s  last %s to %s UTC\n%s, %s in use\n", wording.Printable(v.Session),
		time.Duration(v.Seconds*float64(time.Second)), v.At.UTC().Format("15:04:05"), v.State, use)
	if v.Losses > 0 {
		fmt.Fprintf(out, "%d things are missing from this; gprof-convert info names them\n", v.Losses)
	}
}

func (v *View) printProcesses(out io.Writer, width int) {
	if len(v.Processes) == 0 {
		text := "no process is running"
		if strings.HasPrefix(v.State, text) { // which was said above
			text = "gprof-convert why and gprof-convert top read what the last ones recorded"
		}
		fmt.Fprintln(out, text)
		return
	}
	lines := human.NewTable(out, width, "CPU", "RSS", "heap", "goroutines", "process")
	for _, p := range v.Processes {
		name := p.Title
		if state, _, _ := strings.Cut(p.State, ":"); state != "recording" {
			name += "  (" + state + ")"
		}
		lines.Row(known(p.CPU, func(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }), known(p.Memory, size), known(p.Heap, size),
			known(p.Goroutines, func(v float64) string { return strconv.FormatInt(int64(v), 10) }), name)
	}
	lines.Flush()
}

func size(v float64) string { return ranking.Quantity(v, "bytes") }

// known writes a figure that may be unknown.
func known(v *float64, write func(float64) string) string {
	if v == nil {
		return "-"
	}
	return write(*v)
}

func (v *View) printSlow(out io.Writer, width int) {
	if len(v.Slow) == 0 {
		return
	}
	fmt.Fprintln(out)
	lines := human.NewTable(out, width, "took", "ago", "slow marker")
	for _, m := range v.Slow {
		text := m.Name
		for _, f := range m.Fields {
			text += "  " + f.Name + "=" + f.Value
		}
		ago := max(0, v.At.UnixNano()-m.At-m.Took)
		lines.Row(human.Time(m.Took), human.Time(ago), text)
	}
	lines.Flush()
}
