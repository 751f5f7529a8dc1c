package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"gprof/ingest"
	"gprof/stream"
)

type verifyCmd struct {
	Inputs []string `arg:"" name:"input" help:"Sessions: directories, archives (tar, tar.gz, tar.zst, zip, .gprof), chunk files, quoted patterns of them, or - for stdin."`
	JSON   bool     `name:"json" help:"Print JSON."`
	waiting
}

func (c *verifyCmd) Help() string {
	return `Examples:
  gprof-convert verify out/session
  gprof-convert verify out/session | tail -1
  gprof-convert verify --json dump | jq '.processes[] | select(.damaged) | .files[] | select(.state == "damaged")'

Each chunk, dictionary and stack ring (samples that a killed process had not moved
into chunks yet) has a line; the last line says what to do. Pages that
are sealed are proven by their checksums. What was written in the last moments
before a kill is not sealed: it is read, and called unproven. Exit code 1 means
that something is damaged or missing.`
}

// Run reads every byte that counts and reports what does not fit.
func (c *verifyCmd) Run(s *streams) error {
	found, err := s.openRaw(c.Inputs, c.waiting)
	if err != nil {
		return err
	}
	defer found.Close()
	if n := found.Unverified(); n == len(found.Processes) {
		return fmt.Errorf("nothing to verify: %s in files of other tools, which hold nothing that proves them", count(n, "process"))
	} else if n > 0 {
		s.problem("warning", fmt.Errorf("%s in files of other tools not verified: they hold nothing that proves them", count(n, "process")))
	}
	verdicts := found.Verify()
	sum := sumUp(verdicts)
	sum.noteFailed(found)
	if c.JSON {
		err = writeJSON(s.stdout, struct {
			Summary   string           `json:"summary"`
			Processes []ingest.Verdict `json:"processes"`
		}{sum.String(), verdicts})
	} else {
		s.printVerdicts(verdicts)
		fmt.Fprintln(s.stdout, stream.Printable(sum.String()))
	}
	if err != nil {
		return err
	}
	if len(sum.damaged) > 0 {
		return &exitError{exitFailed, fmt.Errorf("damaged: %s", strings.Join(sum.damaged, ", "))}
	}
	return partly(found)
}

func (s *streams) printVerdicts(verdicts []ingest.Verdict) {
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	for _, v := range verdicts {
		state := "whole"
		if v.Damaged {
			state = "DAMAGED"
		}
		fmt.Fprintf(w, "%s, pid %d\t%s\t%d blocks\t%s proven\t%s unproven%s\n", stream.Printable(v.Instance), v.Pid, state, v.Blocks, formatBytes(v.Proven), formatBytes(v.Unproven), lostBytes(v.Lost))
		for _, f := range v.Files {
			fmt.Fprintf(w, "  %s\t%s\t%d blocks\t%s proven\t%s unproven%s\n", stream.Printable(f.Name), f.State, f.Blocks, formatBytes(f.Proven), formatBytes(f.Unproven), lostBytes(f.Lost))
		}
		for _, p := range v.Problems {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", p.Class, stream.Printable(p.Where), stream.Printable(p.What), formatBytes(p.Bytes))
		}
	}
	w.Flush()
}

func lostBytes(n int64) string {
	if n == 0 {
		return ""
	}
	return "\t" + formatBytes(n) + " lost"
}

// verdictSum is what one acts on.
type verdictSum struct {
	processes, chunks      int
	rings                  int // stack rings
	proven, unproven, lost int64
	damaged                []string // instances
	first                  string   // problem
	why                    string   // there are unproven bytes
	failed                 int      // inputs
	failure                string   // the first
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
			sum.damaged = append(sum.damaged, v.Instance)
			sum.noteFirst(v)
		}
		if v.Unproven > 0 && sum.why == "" {
			sum.why = whyUnproven(v)
		}
	}
	return sum
}

// noteFirst keeps the first problem that is one.
func (sum *verdictSum) noteFirst(v *ingest.Verdict) {
	for _, p := range v.Problems {
		if sum.first == "" && !p.Harmless() {
			sum.first = fmt.Sprintf("%s: %s", p.Where, p.What)
		}
	}
}

// noteFailed takes in what gave no verdict, or not all that was to come: nobody
// knows what is missing.
func (sum *verdictSum) noteFailed(found *ingest.Found) {
	sum.failed = found.Failed()
	for _, w := range found.Warnings {
		if sum.failure == "" && w.Whole() {
			sum.failure = oneLine(w)
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

// String is one line that a person can act on.
func (sum *verdictSum) String() string {
	unproven := ""
	if sum.unproven > 0 {
		unproven = fmt.Sprintf(", %s unproven (%s)", formatBytes(sum.unproven), sum.why)
	}
	bad := sum.bad()
	switch {
	case bad == "":
		return fmt.Sprintf("whole: %s, %s, %s proven%s: safe to convert", count(sum.processes, "process"), sum.files(), formatBytes(sum.proven), unproven)
	case sum.proven+sum.unproven == 0:
		return bad + ": nothing is left to convert; look for another copy"
	case len(sum.damaged) == 0:
		return fmt.Sprintf("%s: convert still gives the rest, %s proven%s; see the warnings above", bad, formatBytes(sum.proven), unproven)
	}
	return fmt.Sprintf("%s: convert still gives the rest, %s proven%s; see the lines above", bad, formatBytes(sum.proven), unproven)
}

// files counts what holds events.
func (sum *verdictSum) files() string {
	if sum.rings == 0 {
		return count(sum.chunks, "chunk")
	}
	return count(sum.chunks, "chunk") + ", " + count(sum.rings, "stack ring")
}

// bad is what is not whole, "" if all is.
func (sum *verdictSum) bad() string {
	damaged := fmt.Sprintf("damaged: %d of %s, %s lost (%s)", len(sum.damaged), count(sum.processes, "process"), formatBytes(sum.lost), sum.first)
	failed := fmt.Sprintf("%s could not be read in full (%s)", count(sum.failed, "input"), sum.failure)
	switch {
	case sum.failed == 0 && len(sum.damaged) == 0:
		return ""
	case sum.failed == 0:
		return damaged
	case len(sum.damaged) == 0:
		return "incomplete: " + failed
	}
	return damaged + "; " + failed
}

// count is a number of things.
func count(n int, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "s"):
		what += "es"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
