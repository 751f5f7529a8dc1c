package main

import (
	"cmp"
	"fmt"
	"slices"
	"text/tabwriter"

	"gprof/stream"
)

// ledgerLine is a line of the ledger as JSON.
type ledgerLine struct {
	Output   string `json:"output,omitempty"`  // of several, the one that it concerns; missing: all
	Process  string `json:"process,omitempty"` // instance; missing: the run
	Reason   string `json:"reason"`
	Severity string `json:"severity"`
	What     string `json:"what"`
	Where    string `json:"where,omitempty"`
	Count    int64  `json:"count"`
	Bytes    int64  `json:"bytes,omitempty"`
}

func ledgerLines(l *stream.Ledger, of func(stream.Line) bool) []ledgerLine {
	lines := []ledgerLine{}
	for _, line := range l.Lines() {
		if of(line) {
			lines = append(lines, ledgerLineOf(line))
		}
	}
	return lines
}

func ledgerLineOf(line stream.Line) ledgerLine {
	r := stream.Reasons[line.Reason]
	return ledgerLine{"", line.Process, r.Name, r.Severity.String(), line.What, line.Where, line.Count, line.Bytes}
}

func everyLine(stream.Line) bool { return true }

func noLine(stream.Line) bool { return false }

// ledgerPart is lines that concern one output, or all of them.
type ledgerPart struct {
	output string // "" all
	lines  []stream.Line
}

// parts is what is missing from all outputs, then from each. Of one output, all
// of it is one part.
func (w *written) parts() []ledgerPart {
	if len(w.outputs) == 1 {
		return []ledgerPart{{lines: w.outputs[0].Ledger().Lines()}}
	}
	all := []ledgerPart{{lines: w.Tables.Ledger.Lines()}}
	for i, o := range w.outputs {
		all = append(all, ledgerPart{w.targets[i].name, o.Added()})
	}
	return all
}

// losses is the ledger of all outputs for --losses.
func (w *written) losses() []ledgerLine {
	lines := []ledgerLine{}
	for _, part := range w.parts() {
		for _, line := range part.lines {
			row := ledgerLineOf(line)
			row.Output = part.output
			lines = append(lines, row)
		}
	}
	return lines
}

// maxLedgerRows is how long the table may be that shows each process.
const maxLedgerRows = 20

// printLedger tells a person what is missing or uncertain, summed up by process
// and reason; by reason alone where that is short enough to be read. Of lines that
// are expected it shows those that asked is true for; --losses has them all.
func (s *streams) printLedger(asked func(stream.Line) bool, parts ...ledgerPart) {
	shown := make([]ledgerPart, len(parts))
	for i, part := range parts {
		shown[i] = ledgerPart{part.output, slices.DeleteFunc(part.lines, func(l stream.Line) bool { return l.Reason.Quiet() && !asked(l) })}
	}
	rows := sumParts(shown, true)
	if len(rows) > maxLedgerRows {
		rows = sumParts(shown, false)
	}
	if len(rows) == 0 {
		return
	}
	w := tabwriter.NewWriter(s.stderr, 0, 0, 2, ' ', 0)
	several := len(parts) > 1
	fmt.Fprintln(w, "LEDGER\tprocess\tcount\twhat\twhy\twhere"+only(several, "\toutput"))
	for _, row := range rows {
		r := stream.Reasons[row.Reason]
		fmt.Fprintf(w, "%s\t%s\t%d\t%s%s\t%s\t%s%s\n", r.Severity, stream.Printable(orDash(row.Process)), row.Count, stream.Printable(row.What), inBytes(row.Bytes), r.Text, stream.Printable(row.Where),
			only(several, "\t"+cmp.Or(row.output, "all")))
	}
	w.Flush()
}

func only(when bool, text string) string {
	if when {
		return text
	}
	return ""
}

// ledgerRow is a line of the table.
type ledgerRow struct {
	*stream.Line
	output string
}

// sumParts sums up each part for itself.
func sumParts(parts []ledgerPart, byProcess bool) (rows []ledgerRow) {
	for _, part := range parts {
		for _, line := range sumLedger(part.lines, byProcess) {
			rows = append(rows, ledgerRow{line, part.output})
		}
	}
	return rows
}

// sumLedger sums up the lines of one process, reason and thing, or of one
// reason and thing: then Process says how many there are.
func sumLedger(lines []stream.Line, byProcess bool) []*stream.Line {
	var rows []*stream.Line
	sums := map[stream.Line]*stream.Line{}
	processes := map[*stream.Line]map[string]bool{}
	for _, line := range lines {
		key := stream.Line{Process: line.Process, Reason: line.Reason, What: line.What}
		if !byProcess {
			key.Process = ""
		}
		row := sums[key]
		if row == nil {
			row = &stream.Line{Process: line.Process, Reason: line.Reason, What: line.What, Where: line.Where}
			sums[key], processes[row] = row, map[string]bool{}
			rows = append(rows, row)
		} else if row.Where != line.Where {
			row.Where = "several places"
		}
		row.Count += line.Count
		row.Bytes += line.Bytes
		if processes[row][line.Process] = true; len(processes[row]) > 1 {
			row.Process = fmt.Sprintf("%d of them", len(processes[row]))
		}
	}
	slices.SortStableFunc(rows, func(a, b *stream.Line) int {
		if byProcess {
			return 0 // as the lines are
		}
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.What, b.What))
	})
	return rows
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func inBytes(n int64) string {
	if n == 0 {
		return ""
	}
	return " (" + formatBytes(n) + ")"
}

// formatBytes writes a size for people.
func formatBytes(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
