package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"gprof/stream"
)

// ledgerLine is a line of the ledger as JSON.
type ledgerLine struct {
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
			r := stream.Reasons[line.Reason]
			lines = append(lines, ledgerLine{line.Process, r.Name, r.Severity.String(), line.What, line.Where, line.Count, line.Bytes})
		}
	}
	return lines
}

func everyLine(stream.Line) bool { return true }

func (s *streams) writeLedger(name string, l *stream.Ledger) error {
	out, err := s.create(name, false)
	if err != nil {
		return err
	}
	if err := writeJSON(out, ledgerLines(l, everyLine)); err != nil {
		out.discard()
		return err
	}
	return out.commit()
}

// printLedger tells a person what is missing or uncertain, summed up by
// process and reason.
func (s *streams) printLedger(l *stream.Ledger) {
	type key struct {
		process string
		reason  stream.Reason
		what    string
	}
	var order []key
	sums := map[key]*stream.Line{}
	for _, line := range l.Lines() {
		k := key{line.Process, line.Reason, line.What}
		if sums[k] == nil {
			sums[k] = &stream.Line{Where: line.Where}
			order = append(order, k)
		} else if sums[k].Where != line.Where {
			sums[k].Where = "several places, see --losses"
		}
		sums[k].Count += line.Count
		sums[k].Bytes += line.Bytes
	}
	if len(order) == 0 {
		return
	}
	w := tabwriter.NewWriter(s.stderr, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LEDGER\tprocess\tcount\twhat\twhy\twhere")
	for _, k := range order {
		r, sum := stream.Reasons[k.reason], sums[k]
		fmt.Fprintf(w, "%s\t%s\t%d\t%s%s\t%s\t%s\n", r.Severity, orDash(k.process), sum.Count, k.what, inBytes(sum.Bytes), r.Text, sum.Where)
	}
	w.Flush()
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
	case n >= 10<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// failIf is the flag by which a script asks for an exit code when the ledger
// holds certain lines.
type failIf struct {
	FailIf ledgerWords `placeholder:"WHAT" help:"Exit with 4 if the ledger holds a line of this severity (loss, unsure) or reason (gap, torn, damaged, dropped, ...). Several are separated by commas."`
}

// ledgerWords are severities and reasons.
type ledgerWords []string

// Validate refuses words that no line can have. Kong calls it.
func (w ledgerWords) Validate() error {
	all := allLedgerWords()
	for _, word := range w {
		if !slices.Contains(all, word) {
			return fmt.Errorf("%s: want a severity or a reason of the ledger: %s", word, strings.Join(all, ", "))
		}
	}
	return nil
}

func allLedgerWords() []string {
	words := []string{stream.Loss.String(), stream.Unsure.String(), stream.Info.String()}
	for _, r := range stream.Reasons {
		words = append(words, r.Name)
	}
	return words
}

// check returns the error of the first line that was asked for.
func (f *failIf) check(l *stream.Ledger) error {
	for _, line := range l.Lines() {
		r := stream.Reasons[line.Reason]
		if slices.Contains(f.FailIf, r.Name) || slices.Contains(f.FailIf, r.Severity.String()) {
			return &exitError{exitLimit, fmt.Errorf("--fail-if %s: process %s: %d %s %s %s", strings.Join(f.FailIf, ","), orDash(line.Process), line.Count, line.What, r.Text, line.Where)}
		}
	}
	return nil
}
