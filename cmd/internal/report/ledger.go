// Package report presents recordings to people and as JSON: the ledger of losses, what a
// recording holds, tables of what took most and what changed, verdicts on files.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"gprof/cmd/internal/human"
	"gprof/stream"
	"gprof/stream/wording"
)

// LedgerLine is a line of the ledger as JSON.
type LedgerLine struct {
	Output   string `json:"output,omitempty"`  // that it concerns, of several; missing: all
	Process  string `json:"process,omitempty"` // instance; missing: the run
	Reason   string `json:"reason"`
	Severity string `json:"severity"`
	What     string `json:"what"`
	Where    string `json:"where,omitempty"`
	Count    int64  `json:"count"`
	Bytes    int64  `json:"bytes,omitempty"`
}

func ledgerLines(l *stream.Ledger) []LedgerLine {
	lines := []LedgerLine{}
	for _, line := range l.Lines() {
		lines = append(lines, ledgerLineOf(line))
	}
	return lines
}

func ledgerLineOf(line stream.Line) LedgerLine {
	return LedgerLine{"", line.Process, line.Reason.String(), line.Reason.Severity().String(), line.What, line.Where, line.Count, line.Bytes}
}

// LedgerOf is the ledger of lines that were written as JSON, as far as this program knows their
// reasons.
func LedgerOf(lines []LedgerLine) *stream.Ledger {
	reasons := map[string]stream.Reason{}
	for r := range stream.NumReasons {
		reasons[r.String()] = r
	}
	l := new(stream.Ledger)
	for _, line := range lines {
		if r, ok := reasons[line.Reason]; ok {
			l.Add(stream.Line{Process: line.Process, Reason: r, What: line.What, Where: line.Where, Count: line.Count, Bytes: line.Bytes})
		}
	}
	return l
}

func NoLine(stream.Line) bool { return false }

// Part is lines that concern one output, or all of them.
type Part struct {
	Output string // "" all
	Lines  []stream.Line
}

// LossLines are the lines of several parts for JSON.
func LossLines(parts []Part) []LedgerLine {
	lines := []LedgerLine{}
	for _, part := range parts {
		for _, line := range part.Lines {
			row := ledgerLineOf(line)
			row.Output = part.Output
			lines = append(lines, row)
		}
	}
	return lines
}

// maxLedgerRows is the length up to which the table shows each process.
const maxLedgerRows = 20

// PrintLedger tells a person what is missing or uncertain, summed up by process and
// reason, or by reason alone if there are too many lines. Quiet lines are shown only if
// asked is true for them; --losses has them all.
func PrintLedger(out io.Writer, asked func(stream.Line) bool, parts ...Part) {
	shown := make([]Part, len(parts))
	for i, part := range parts {
		shown[i] = Part{part.Output, slices.DeleteFunc(part.Lines, func(l stream.Line) bool { return l.Reason.Quiet() && !asked(l) })}
	}
	rows := sumParts(shown, true)
	if len(rows) > maxLedgerRows {
		rows = sumParts(shown, false)
	}
	if len(rows) == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	several := len(parts) > 1
	fmt.Fprintln(w, "LEDGER\tprocess\tcount\twhat\twhy\twhere"+human.OnlyIf(several, "\toutput"))
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s%s\t%s\t%s%s\n", row.Reason.Severity(), wording.Printable(human.OrDash(row.Process)), row.Count, wording.Printable(row.What), inBytes(row.Bytes), wording.Reason(row.Reason), wording.Printable(row.Where),
			human.OnlyIf(several, "\t"+cmp.Or(row.output, "all")))
	}
	w.Flush()
}

// ledgerRow is a line of the table.
type ledgerRow struct {
	*stream.Line
	output string
}

// sumParts sums up each part by itself.
func sumParts(parts []Part, byProcess bool) (rows []ledgerRow) {
	for _, part := range parts {
		for _, line := range sumLedger(part.Lines, byProcess) {
			rows = append(rows, ledgerRow{line, part.Output})
		}
	}
	return rows
}

// sumLedger sums up the lines with the same process, reason and thing; or with the same
// reason and thing, in which case Process says how many processes there are.
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
			return 0 // in the order of the lines
		}
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.What, b.What))
	})
	return rows
}

func inBytes(n int64) string {
	if n == 0 {
		return ""
	}
	return " (" + human.Bytes(n) + ")"
}

// WriteJSON writes v in a form for both scripts and people.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func Moment(t stream.Time) time.Time { return time.Unix(0, int64(t)).UTC() }
