package app

import (
	"bytes"
	"errors"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/report"
	"gprof/cmd/internal/selection"
	"gprof/ingest"
	"gprof/stream"
)

type infoCmd struct {
	Inputs      []string `arg:"" name:"input" help:"${inputs}"`
	HeadersOnly bool     `name:"headers" help:"Say at once what is known without reading events: of which processes, from when to when, how they ended, how large; what they hold is left out."`
	JSON        bool     `name:"json" help:"Print JSON."`
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
  gprof-convert info --headers dumps/*

Of each process it says first how far back the recording reaches and how the
process ended. Counts are those of the events that a conversion would write.

With --headers it takes no longer for large recordings than for small ones. What only
events tell is left out, in JSON null: what was recorded how often, how much memory
and CPU time was used, and losses that show when all is read.`
}

// Run reads everything once, as a conversion would, and counts it.
func (c *infoCmd) Run(s *input.Tool) error {
	c.Apply()
	if err := errors.Join(c.Filter.Check(), c.check()); err != nil {
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
	if c.HeadersOnly {
		return c.headers(s, found)
	}
	erase := c.preview(s, found)
	src, err := c.Source(found, output.TempDir())
	if err != nil {
		return err
	}
	all := report.Survey{Partly: c.choosesEvents()}
	bar := s.NewBar(c.JSON)
	err = stream.Copy(all.Sink(), src, stream.CopyOptions{Memory: int64(c.Mem), Jobs: c.Jobs.Number(), SpillDir: output.TempDir(), Progress: bar.Task().Show})
	bar.End()
	erase()
	if err != nil {
		return err
	}
	if err := c.tell(s, found, &all); err != nil {
		return err
	}
	if err := input.Partly(found); err != nil {
		return err
	}
	return c.Limits.Check(&all.Tables.Ledger)
}

// tell prints what was found.
func (c *infoCmd) tell(s *input.Tool, found *ingest.Found, all *report.Survey) error {
	sum := all.Summary(found, c.Redact.Given)
	if c.JSON {
		return report.WriteJSON(s.Stdout, sum)
	}
	sum.Print(s.Stdout)
	report.PrintLedger(s.Stderr, report.NoLine, report.Part{Lines: all.Tables.Ledger.Lines()})
	s.Hint(c.EmptyHint(found, &all.Count))
	return nil
}

var errHeaders = errors.New("--headers reads no events, of which --from, --to, --last, --track, --category, --during, --trace, --tagroot and --fail-if choose or judge; leave either out")

// check refuses flags that contradict each other.
func (c *infoCmd) check() error {
	if c.HeadersOnly && (c.choosesEvents() || len(c.FailIf) > 0) {
		return console.Exit(console.Usage, errHeaders)
	}
	return nil
}

// choosesEvents reports whether only some events of a process are asked for.
func (c *infoCmd) choosesEvents() bool {
	return c.Given() || len(c.Track)+len(c.Category)+len(c.During)+len(c.Trace)+len(c.TagRoot) > 0
}

// survey reads no events.
func (c *infoCmd) survey(found *ingest.Found) (*report.Survey, error) {
	of := c.Selection
	of.Filter.Headers = true
	src, err := of.Source(found, output.TempDir())
	if err != nil {
		return nil, err
	}
	all := report.Headers()
	return all, stream.Copy(all.Sink(), src, stream.CopyOptions{Memory: int64(c.Mem)})
}

// headers says what is known without events.
func (c *infoCmd) headers(s *input.Tool, found *ingest.Found) error {
	all, err := c.survey(found)
	if err != nil {
		return err
	}
	if err := c.tell(s, found, all); err != nil {
		return err
	}
	return input.Partly(found)
}

// previewed is the size of recordings from which on a person would wait for the counts.
const previewed = 8 << 20

// preview shows a person what is known without events, until erase is called.
func (c *infoCmd) preview(s *input.Tool, found *ingest.Found) (erase func()) {
	size := int64(0)
	for _, p := range found.Processes {
		size += p.Bytes()
	}
	if c.JSON || size < previewed || s.Width() == 0 || c.choosesEvents() {
		return func() {}
	}
	all, err := c.survey(found)
	if err != nil {
		return func() {} // reading will say so
	}
	var text bytes.Buffer
	all.Summary(found, c.Redact.Given).Print(&text)
	return s.Preview(text.String())
}
