package app

import (
	"fmt"
	"strings"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/report"
	"gprof/convert/list"
	"gprof/stream/filter"
)

type listCmd struct {
	What   string   `arg:"" help:"Which markers and counters, of those that gprof-convert top --by marker and --by counter list: NAME, or NAME[duration>100ms, FIELD=VALUE] as for --during. * and ? stand for characters."`
	Inputs []string `arg:"" name:"input" help:"${inputs}"`
	By     string   `default:"last" enum:"${orders}" placeholder:"ORDER" help:"Which markers to pick: ${enum}. Default: ${default}."`
	Rows   int      `short:"n" default:"20" placeholder:"N" help:"How many markers to show; 0 is all. Default: ${default}."`
	JSON   bool     `name:"json" help:"Print JSON."`
	conversion.Flags
}

func (c *listCmd) Help() string {
	return `Examples:
  gprof-convert list http.request out/session
  gprof-convert list --by longest -n 5 'http.request[status>=500]' 'dumps/*.gprof'
  gprof-convert list --last 1m 'memory*' out/session
  gprof-convert list --json -n 0 'log[level=ERROR]' out/session | jq -r '.markers[].fields[].value'

Markers stand with their moment, how long they took, their row, and their fields;
those of a start and an end are two. Counters stand with their least, their most,
and at most 20 points of time.`
}

// Run prints the list.
func (c *listCmd) Run(s *input.Tool) error {
	c.Apply()
	if c.Rows < 0 {
		return console.Exit(console.Usage, fmt.Errorf("--rows %d: want a number of markers, or 0 for all", c.Rows))
	}
	query, err := filter.ParseQuery(c.What)
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	sink, err := list.New(query, c.By, c.Rows)
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
	if c.JSON {
		err = report.WriteJSON(s.Stdout, sink.Report)
	} else {
		report.PrintList(s.Stdout, sink.Report)
	}
	if err != nil {
		return err
	}
	c.Tell(s, "", read)
	if r := sink.Report; r.Matching == 0 && len(r.Counters) == 0 {
		s.Hint(nothingListed(r.Names))
	}
	return c.JudgeAll(read)
}

// nothingListed says what there is instead.
func nothingListed(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "there are no markers and no counters; top shows samples"
	case n == list.MaxNames:
		return "nothing matches; there are " + strings.Join(names, ", ") + " and others"
	}
	return "nothing matches; there are " + strings.Join(names, ", ")
}
