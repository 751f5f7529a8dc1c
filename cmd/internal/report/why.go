package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gprof/cmd/internal/human"
	"gprof/convert/why"
	"gprof/ingest"
	"gprof/stream/wording"
)

// The text of why has at most 24 lines, to fit on one screen.
const (
	maxFindings = 6 // of three lines
	maxUnknown  = 4
)

// Why is what the command why prints.
type Why struct {
	Processes []WhyProcess  `json:"processes"` // by start
	Findings  []why.Finding `json:"findings"`
	Unknown   []string      `json:"unknown"`
}

// WhyProcess is a process and how it ended.
type WhyProcess struct {
	Title    string    `json:"title"`
	Instance string    `json:"instance"`
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	Ended    *ending   `json:"ended"`
}

// NewWhy adds to what was found how processes ended. If values are redacted, so is what only files tell.
func NewWhy(r *why.Report, s *Survey, found *ingest.Found, redacted bool) *Why {
	w := &Why{Processes: []WhyProcess{}, Findings: r.Findings, Unknown: r.Unknown}
	if w.Findings == nil {
		w.Findings = []why.Finding{}
	}
	for _, p := range s.Summary(found, redacted).Processes {
		w.Processes = append(w.Processes, WhyProcess{p.Title, p.Instance, p.Start, p.End, p.Ended})
	}
	return w
}

// Print prints the text; command is what the arguments of a finding follow.
func (w *Why) Print(out io.Writer, command func(args []string) string) {
	fmt.Fprintln(out, wording.Printable(w.head()))
	for i, f := range w.Findings[:min(maxFindings, len(w.Findings))] {
		fmt.Fprintf(out, "%d. %-7s %s\n", i+1, f.Severity, wording.Printable(w.of(&f)+f.Text))
		fmt.Fprintf(out, "   %-7s %s\n", "", wording.Printable(strings.Join(f.Evidence, "; ")))
		fmt.Fprintf(out, "   %-7s %s\n", "", wording.Printable(command(f.More)))
	}
	if left := len(w.Findings) - maxFindings; left > 0 {
		fmt.Fprintf(out, "%s; --json has all\n", human.Plural(left, "more finding"))
	}
	if len(w.Findings) == 0 {
		fmt.Fprintln(out, "nothing stands out: of what can be compared, no counter, stack or marker changed or grew as those of trouble do")
	}
	for _, u := range w.Unknown[:min(maxUnknown, len(w.Unknown))] {
		fmt.Fprintf(out, "not known: %s\n", wording.Printable(u))
	}
}

// of names the process of a finding, where there are several.
func (w *Why) of(f *why.Finding) string {
	if len(w.Processes) < 2 || f.Process == "" {
		return ""
	}
	return f.Process + ": "
}

// head says in a line how it ended.
func (w *Why) head() string {
	switch len(w.Processes) {
	case 0:
		return "no process"
	case 1:
		return w.Processes[0].Title + ": " + w.Processes[0].Ended.Text
	}
	first, last := w.Processes[0].Start, w.Processes[0].End
	var states []string
	count := map[string]int{}
	for _, p := range w.Processes {
		if p.Start.Before(first) {
			first = p.Start
		}
		if p.End.After(last) {
			last = p.End
		}
		if count[p.Ended.State]++; count[p.Ended.State] == 1 {
			states = append(states, p.Ended.State)
		}
	}
	for i, state := range states {
		states[i] = fmt.Sprintf("%d %s", count[state], state)
	}
	return fmt.Sprintf("%s in %v: %s", human.Plural(len(w.Processes), "process"), roundReach(last.Sub(first)), strings.Join(states, ", "))
}
