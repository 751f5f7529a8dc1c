package app

import (
	"fmt"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/selection"
	"gprof/ingest"
)

type sliceCmd struct {
	Inputs []string `arg:"" name:"input" help:"Packed files, session directories or process directories."`
	selection.Period
	packOutput
	input.Patience
}

func (c *sliceCmd) Help() string {
	return `Examples:
  gprof-convert slice checkout.gprof --from=-60s -o last-minute.gprof
  gprof-convert slice out/session --from 2026-11-21T17:02:00Z --to 2026-11-21T17:03:30Z -o slice.gprof
  gprof-convert slice out/session --from 90s --to 2m -o slice.gprof
  gprof-convert slice out/session --last 10s --to crash -o crash.gprof

` + selection.PeriodHelp + `
Chunks that are over before or begin after it are left out, and so are what others
have later and their pages of 4 KiB before: a slice holds a little more than was
asked for, never less, and most of the rest of a packed file is not even read.
Windows of the execution trace stay whole. It is raw again, and an input of every
command; what was left out is not counted as lost.`
}

// Run packs the chunks that hold something of the time asked for.
func (c *sliceCmd) Run(s *input.Tool) error {
	if !c.Given() {
		return console.Exit(console.Usage, fmt.Errorf("--from, --to or --last is missing; without them it is gprof-convert pack"))
	}
	found, err := s.OpenRaw(c.Inputs, c.Patience)
	if err != nil {
		return err
	}
	defer found.Close()
	from, to, err := c.Span(found, nil)
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	s.Hint(selection.OutsideHint(found, from, to))
	return c.write(s, found, ingest.PackSpan{From: int64(from), To: int64(to)})
}
