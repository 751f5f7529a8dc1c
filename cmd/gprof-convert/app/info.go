package app

import (
	"errors"

	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/report"
	"gprof/cmd/internal/selection"
	"gprof/stream"
)

type infoCmd struct {
	Inputs []string `arg:"" name:"input" help:"${inputs}"`
	JSON   bool     `name:"json" help:"Print JSON."`
	input.Reading
	selection.Selection
	conversion.Limits
	input.Resources
}

func (c *infoCmd) Help() string {
	return `Examples:
  gprof-convert info out/session
  gprof-convert info --json out/session | jq '.processes[].events'
  gprof-convert info --json dumps/* | jq -r '.processes[] | select(.ended.memory.probably_out) | .title'
  gprof-convert info --fail-if loss dumps/*

Of each process it says first how far back the recording reaches and how the
process ended. Counts are those of the events that a conversion would write.`
}

// Run reads everything once, as a conversion would, and counts it.
func (c *infoCmd) Run(s *input.Tool) error {
	c.Apply()
	if err := c.Filter.Check(); err != nil {
		return err
	}
	if err := errors.Join(c.Prepare(), c.Limits.Alone()); err != nil {
		return err
	}
	found, err := s.Open(c.Inputs, c.Reading.Options(s, c.Jobs, &c.Expiry, ""))
	if err != nil {
		return err
	}
	defer found.Close()
	src, err := c.Source(found, output.TempDir())
	if err != nil {
		return err
	}
	var all report.Survey
	bar := s.NewBar(c.JSON)
	err = stream.Copy(all.Sink(), src, stream.CopyOptions{Memory: int64(c.Mem), Jobs: c.Jobs.Number(), SpillDir: output.TempDir(), Progress: bar.Task().Show})
	bar.End()
	if err != nil {
		return err
	}
	sum := all.Summary(found, c.Redact.Given)
	if c.JSON {
		err = report.WriteJSON(s.Stdout, sum)
	} else {
		sum.Print(s.Stdout)
		report.PrintLedger(s.Stderr, report.NoLine, report.Part{Lines: src.Tables().Ledger.Lines()})
		s.Hint(c.EmptyHint(found, &all.Count))
	}
	if err != nil {
		return err
	}
	if err := input.Partly(found); err != nil {
		return err
	}
	return c.Limits.Check(&all.Tables.Ledger)
}
