package app

import (
	"fmt"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/report"
	"gprof/convert/top"
)

type topCmd struct {
	Inputs []string `arg:"" name:"input" help:"${inputs}"`
	By     string   `default:"${way}" enum:"${ways}" placeholder:"WHAT" help:"What to sum up by: ${enum}."`
	Rows   int      `short:"n" default:"20" placeholder:"N" help:"How many rows to show; 0 is all. Default: ${default}."`
	JSON   bool     `name:"json" help:"Print JSON, with both samples and CPU time."`
	conversion.Flags
}

func (c *topCmd) Help() string {
	return `Examples:
  gprof-convert top out/session
  gprof-convert top --by package -n 10 out/session
  gprof-convert top --by marker --last 1m 'dumps/*.gprof'
  gprof-convert top --json out/session | jq -r '.rows[0].name'

Self is what a function took by itself, total is that with all that it called; a
function that calls itself has each sample once. Both are CPU time where it is
known of all samples, else samples. Of markers there are number, time, and the
durations that half of them, 99 of 100 and all of them stayed within.`
}

// Run prints the table.
func (c *topCmd) Run(s *input.Tool) error {
	c.Apply()
	if c.Rows < 0 {
		return console.Exit(console.Usage, fmt.Errorf("--rows %d: want a number of rows, or 0 for all", c.Rows))
	}
	sink, err := top.New(c.By)
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	found, err := c.Open(s, c.Inputs, "")
	if err != nil {
		return err
	}
	read, err := c.Digest(s, found, sink)
	if err != nil {
		return err
	}
	if err := c.print(s, sink.Table); err != nil {
		return err
	}
	c.Tell(s, "", read)
	if c.By != top.Marker && !c.Quiet {
		s.Hint(report.UnseenHint(read.Unseen))
	}
	return c.JudgeAll(read)
}

func (c *topCmd) print(s *input.Tool, t *top.Table) error {
	rows, markers := len(t.Rows), len(t.Markers)
	if c.Rows > 0 {
		t.Rows, t.Markers = t.Rows[:min(c.Rows, rows)], t.Markers[:min(c.Rows, markers)]
	}
	if c.JSON {
		return report.WriteJSON(s.Stdout, t)
	}
	report.PrintTop(s.Stdout, t, s.Width())
	if left := rows + markers - len(t.Rows) - len(t.Markers); left > 0 {
		fmt.Fprintf(s.Stdout, "%d more; -n 0 shows all\n", left)
	}
	return nil
}
