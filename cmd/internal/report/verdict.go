package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"gprof/cmd/internal/human"
	"gprof/ingest"
	"gprof/stream/wording"
)

func PrintVerdicts(out io.Writer, verdicts []ingest.Verdict) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, v := range verdicts {
		state := "whole"
		if v.Damaged {
			state = "DAMAGED"
		}
		fmt.Fprintf(w, "%s, pid %d\t%s\t%d blocks\t%s proven\t%s unproven%s\n", wording.Printable(v.Instance), v.Pid, state, v.Blocks, human.Bytes(v.Proven), human.Bytes(v.Unproven), lostBytes(v.Lost))
		for _, f := range v.Files {
			fmt.Fprintf(w, "  %s\t%s\t%d blocks\t%s proven\t%s unproven%s\n", wording.Printable(f.Name), f.State, f.Blocks, human.Bytes(f.Proven), human.Bytes(f.Unproven), lostBytes(f.Lost))
		}
		for _, p := range v.Problems {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", p.Class, wording.Printable(p.Where), wording.Printable(p.What), human.Bytes(p.Bytes))
		}
	}
	w.Flush()
}

func lostBytes(n int64) string {
	if n == 0 {
		return ""
	}
	return "\t" + human.Bytes(n) + " lost"
}

// verdictSum is the sum of verdicts that a person acts on.
type verdictSum struct {
	processes, chunks      int
	rings                  int // stack rings
	proven, unproven, lost int64
	Damaged                []string // instances
	first                  string   // the first problem
	why                    string   // why there are unproven bytes
	failed                 int      // inputs
	failure                string   // of the first of them
}

// NewVerdictSum sums up the verdicts on recordings.
func NewVerdictSum(found *ingest.Found, verdicts []ingest.Verdict) *verdictSum {
	sum := sumUp(verdicts)
	sum.noteFailed(found)
	return sum
}

func sumUp(verdicts []ingest.Verdict) *verdictSum {
	sum := &verdictSum{processes: len(verdicts)}
	for i := range verdicts {
		v := &verdicts[i]
		sum.chunks += v.Chunks
		sum.rings += v.Rings
		sum.proven += v.Proven
		sum.unproven += v.Unproven
		sum.lost += v.Lost
		if v.Damaged {
			sum.Damaged = append(sum.Damaged, v.Instance)
			if sum.first == "" {
				sum.first = v.First()
			}
		}
		if v.Unproven > 0 && sum.why == "" {
			sum.why = whyUnproven(v)
		}
	}
	return sum
}

// noteFailed counts inputs without a complete verdict: nobody knows what is missing.
func (sum *verdictSum) noteFailed(found *ingest.Found) {
	sum.failed = found.Failed()
	for _, w := range found.Warnings {
		if sum.failure == "" && w.Whole() {
			sum.failure = human.OneLine(w)
		}
	}
}

func whyUnproven(v *ingest.Verdict) string {
	switch {
	case v.Alive:
		return "being written"
	case v.Exit:
		return "not sealed at the end"
	}
	return "tail of a killed process"
}

// String is one line that says what to do.
func (sum *verdictSum) String() string {
	unproven := ""
	if sum.unproven > 0 {
		unproven = fmt.Sprintf(", %s unproven (%s)", human.Bytes(sum.unproven), sum.why)
	}
	bad := sum.bad()
	switch {
	case bad == "":
		return fmt.Sprintf("whole: %s, %s, %s proven%s: safe to convert", human.Plural(sum.processes, "process"), sum.files(), human.Bytes(sum.proven), unproven)
	case sum.proven+sum.unproven == 0:
		return bad + ": nothing is left to convert; look for another copy"
	case len(sum.Damaged) == 0:
		return fmt.Sprintf("%s: convert still gives the rest, %s proven%s; see the warnings above", bad, human.Bytes(sum.proven), unproven)
	}
	return fmt.Sprintf("%s: convert still gives the rest, %s proven%s; see the lines above", bad, human.Bytes(sum.proven), unproven)
}

// files counts the files that hold events.
func (sum *verdictSum) files() string {
	if sum.rings == 0 {
		return human.Plural(sum.chunks, "chunk")
	}
	return human.Plural(sum.chunks, "chunk") + ", " + human.Plural(sum.rings, "stack ring")
}

// bad is what is damaged, "" if all is whole.
func (sum *verdictSum) bad() string {
	damaged := fmt.Sprintf("damaged: %d of %s, %s lost (%s)", len(sum.Damaged), human.Plural(sum.processes, "process"), human.Bytes(sum.lost), sum.first)
	failed := fmt.Sprintf("%s could not be read in full (%s)", human.Plural(sum.failed, "input"), sum.failure)
	switch {
	case sum.failed == 0 && len(sum.Damaged) == 0:
		return ""
	case sum.failed == 0:
		return damaged
	case len(sum.Damaged) == 0:
		return "incomplete: " + failed
	}
	return damaged + "; " + failed
}
