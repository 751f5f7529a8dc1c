package app

import (
	"errors"
	"fmt"
	"strings"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/selection"
	"gprof/convert"
)

type convertCmd struct {
	Inputs []string `arg:"" name:"input" help:"${inputs}"`
	Output []string `short:"o" sep:"none" required:"" placeholder:"OUT" help:"File to write; its name tells the format. DIR/ and NAME=DIR are directories of tables. - is stdout. Several are written in one pass: all appear, or none."`
	Format string   `short:"f" placeholder:"NAME" help:"Format, if the name of OUT does not tell: ${formats}."`
	Losses string   `placeholder:"FILE" help:"Write the ledger as JSON: what is missing from each output, or uncertain in it. - is stdout."`
	conversion.Parts
	conversion.Columns
	conversion.Sums
	conversion.Shares
	conversion.Flags

	formats convert.Table // for the help
}

func (c *convertCmd) Help() string {
	return `Examples:
  gprof-convert out/session -o profile.json.gz
  gprof-convert /dev/shm/gprof/checkout -f firefox -o - | gzip > profile.json.gz
  gprof-convert out/session -o incident.html
  gprof-convert --strict dump1 dump2 -o both.json.gz
  gprof-convert 'dumps/*.tar.gz' --symbols bin/ -o all.json.gz
  gprof-convert out/session -o a.json.gz -o a.pb.gz -o parquet=tables    # read once
  gprof-convert out/session --redact -o public.json.gz
  gprof-convert out/session --last 10s --to crash -o crash.json.gz
  gprof-convert out/session --during 'http.request[duration>100ms]' -o slow.pb.gz
  gprof-convert pods/*.pb.gz -o default.pgo          # what the Go compiler needs of all
  gprof-convert pods/*.gprof --weight checkout=2 -o default.pgo    # each service counts once, checkout twice
  gprof-convert out/session --per process -o profiles/{process}.pb.gz    # shop-4711.pb.gz, ...
  gprof-convert out/session --per interval=10s -o pprof=profiles/         # 20261121T170210Z.pb.gz, ...
  gprof-convert dumps/*.gprof -o parquet=tables    # and: cd tables; duckdb <queries/top-functions.sql
  gprof-convert out/session -o arrow=tables --compression lz4    # and: polars.scan_ipc("tables/samples.arrow")
  kubectl exec shop-7f9c -- tar c -C /dev/shm gprof | gprof-convert - -o shop.json.gz

A pipe is read as it comes. When nothing comes of any input for 30 seconds, those
that are waited for are given up, what came is used, and the ledger says so. For a
login that takes longer give --stall 5m, for one that may take for ever --stall 0.

` + selection.PeriodHelp + `
Open the result at https://profiler.firefox.com with "Load a profile from file".

Formats, by the end of OUT's name (.gz behind it compresses), or as NAME=OUT:
` + c.table()
}

// table lists the formats with what they are.
func (c *convertCmd) table() string {
	var b strings.Builder
	for _, f := range c.formats {
		fmt.Fprintf(&b, "  %s  %s: %s\n", strings.Join(f.Extensions, ", "), f.Name, f.Text)
	}
	return b.String()
}

// Run converts. The outputs appear only when all are whole.
func (c *convertCmd) Run(s *input.Tool) error {
	c.Apply()
	targets, err := conversion.TargetsOf(s.Formats, c.Output, c.Format)
	if err == nil {
		err = errors.Join(c.Per.Apply(targets), c.Compress(targets), c.Sums.Set(s.Formats, targets), c.Shares.Set(s.Formats, targets))
	}
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	found, err := c.Open(s, c.Inputs, conversion.SpillDir(targets), targets...)
	if err != nil {
		return err
	}
	defer found.Close()
	if err := conversion.CheckPlaces(found, targets, c.Losses); err != nil {
		return console.Exit(console.Usage, err)
	}
	bar := s.NewBar(c.Quiet)
	written, err := c.Do(s, conversion.Job{Found: found, Targets: targets, Losses: c.Losses, Per: c.Per, Progress: bar.Task().Show})
	bar.End()
	if err != nil {
		return err
	}
	return c.Conclude(s, found, written)
}
