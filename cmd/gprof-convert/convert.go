package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"gprof/convert"
	"gprof/ingest"
	"gprof/stream"
)

type convertCmd struct {
	Inputs []string `arg:"" name:"input" help:"Sessions: directories, archives (tar, tar.gz, tar.zst, zip, .gprof), chunk files, quoted patterns of them, or - for stdin."`
	Output string   `short:"o" required:"" placeholder:"OUT" help:"File to write; its name tells the format. DIR/ and NAME=DIR are directories of tables. - is stdout."`
	Format string   `short:"f" placeholder:"NAME" help:"Format, if the name of OUT does not tell: ${formats}."`
	Losses string   `placeholder:"FILE" help:"Write the ledger as JSON: what is missing from the output, or uncertain in it. - is stdout."`
	conversion
}

func (c *convertCmd) Help() string {
	return `Examples:
  gprof-convert out/session -o profile.gecko.json.gz
  gprof-convert /dev/shm/gprof/checkout -f gecko -o - | gzip > profile.json.gz
  gprof-convert out/session -o incident.html
  gprof-convert --strict dump1 dump2 -o both.json.gz
  gprof-convert 'dumps/*.tar.gz' --symbols bin/ -o all.json.gz
  gprof-convert dumps/*.gprof -o parquet=tables    # and: cd tables; duckdb <queries/top-functions.sql
  kubectl exec shop-7f9c -- tar c -C /dev/shm gprof | gprof-convert - -o shop.json.gz

A pipe is read as it comes. When nothing comes of any input for 30 seconds, those
that are waited for are given up, what came is used, and the ledger says so. For a
login that takes longer give --stall 5m, for one that may take for ever --stall 0.

Open the result at https://profiler.firefox.com with "Load a profile from file".

Formats, by the end of OUT's name (.gz behind it compresses), or as NAME=OUT:
` + formatTable()
}

// formatTable lists the formats with what they are.
func formatTable() string {
	var b strings.Builder
	for _, f := range convert.Formats() {
		fmt.Fprintf(&b, "  %s  %s: %s\n", strings.Join(f.Extensions, ", "), f.Name, f.Text)
	}
	return b.String()
}

// Run converts. The output appears only when it is whole.
func (c *convertCmd) Run(s *streams) error {
	c.apply()
	format, options, err := c.format()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if c.Output != "-" {
		c.temp = filepath.Dir(filepath.Clean(c.Output))
	}
	found, err := c.open(s, c.Inputs)
	if err != nil {
		return err
	}
	defer found.Close()
	if err := c.checkNames(found); err != nil {
		return &exitError{exitUsage, err}
	}
	bar := s.newProgress(c.Quiet)
	written, err := c.do(s, job{found, format, options, c.Output, false, bar.all()})
	bar.end()
	if err != nil {
		return err
	}
	return c.settle(s, found, written)
}

// format is that of --format, else that of the output, which is NAME=OUT or
// has a name that tells it.
func (c *convertCmd) format() (convert.Format, convert.Options, error) {
	if name, output, ok := strings.Cut(c.Output, "="); ok && c.Format == "" && output != "" {
		if f, o, err := convert.ByFormat(name); err == nil {
			c.Output = output
			return f, o, nil
		}
	}
	if c.Format != "" {
		return convert.ByFormat(c.Format)
	}
	if c.Output == "-" {
		return convert.Format{}, convert.Options{}, fmt.Errorf("stdout has no name that tells the format; add --format, one of %s", formatNames())
	}
	return convert.ByName(c.Output)
}

func formatNames() string {
	var names []string
	for _, f := range convert.Formats() {
		names = append(names, f.Name)
		if !f.Directory() {
			names = append(names, f.Name+".gz")
		}
	}
	return strings.Join(names, ", ")
}

// checkNames refuses outputs that lie among the files of a recording, and two
// outputs in one place.
func (c *convertCmd) checkNames(found *ingest.Found) error {
	if c.Losses != "" && filepath.Clean(c.Losses) == filepath.Clean(c.Output) {
		return fmt.Errorf("--losses and -o both name %s; give one of them another name", c.Output)
	}
	for _, name := range []string{c.Output, c.Losses} {
		if name != "" && name != "-" && found.Reads(name) {
			return fmt.Errorf("%s lies among the files of a recording; give it a name elsewhere", name)
		}
	}
	return nil
}

// settle says what was written and what is missing, and decides on the exit
// code.
func (c *convertCmd) settle(s *streams, found *ingest.Found, written *stream.Count) error {
	ledger := &written.Tables.Ledger
	if c.Losses != "" {
		if err := s.writeLedger(c.Losses, ledger); err != nil {
			return err
		}
	}
	if !c.Quiet {
		s.say(fmt.Sprintf("wrote %s: %s", c.Output, contents(written)))
		s.printLedger(ledger)
	}
	return c.judge(found, ledger)
}
