package main

import (
	"fmt"
	"text/tabwriter"

	"gprof/ingest"
)

type verifyCmd struct {
	Inputs []string `arg:"" name:"input" help:"Sessions: directories, archives (tar, tar.gz, tar.zst, zip, .gprof), chunk files, quoted patterns of them, or - for stdin."`
	JSON   bool     `name:"json" help:"Print JSON."`
	reading
}

func (c *verifyCmd) Help() string {
	return `Examples:
  gprof-convert verify out/session
  gprof-convert verify --json dump | jq '.processes[] | select(.damaged)'

Sealed pages are proven by their checksums. What was written in the last moments
before a kill is not sealed: it is read, and called unproven. Exit code 1 means
that something is damaged or missing.`
}

// Run reads every byte that counts and reports what does not fit.
func (c *verifyCmd) Run(s *streams) error {
	found, err := s.open(c.Inputs, &c.reading)
	if err != nil {
		return err
	}
	defer found.Close()
	reports, err := found.Verify()
	if err != nil {
		return err
	}
	if c.JSON {
		err = writeJSON(s.stdout, struct {
			Processes []ingest.Verdict `json:"processes"`
		}{reports})
	} else {
		s.printVerdicts(reports)
	}
	if err != nil {
		return err
	}
	for _, r := range reports {
		if r.Damaged {
			return &exitError{exitFailed, fmt.Errorf("damaged: %s and what is named above; the rest is whole and converts", r.Instance)}
		}
	}
	return partly(found)
}

func (s *streams) printVerdicts(reports []ingest.Verdict) {
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	for _, r := range reports {
		verdict := "whole"
		if r.Damaged {
			verdict = "DAMAGED"
		}
		fmt.Fprintf(w, "%s\t%s\tpid %d\t%d chunks\t%d blocks\t%s proven\t%s unproven\n", r.Instance, verdict, r.Pid,
			r.Chunks, r.Blocks, formatBytes(r.Proven), formatBytes(r.Unproven))
		for _, p := range r.Problems {
			fmt.Fprintf(w, "\t%s\t%s\t%s\t%s\n", p.Class, p.Where, p.What, formatBytes(p.Bytes))
		}
	}
	w.Flush()
}
