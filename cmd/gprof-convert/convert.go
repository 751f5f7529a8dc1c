package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"gprof/convert"
	"gprof/ingest"
	"gprof/stream"
)

type convertCmd struct {
	Inputs []string `arg:"" name:"input" help:"Session directories, process directories or chunk files."`
	Output string   `short:"o" required:"" placeholder:"OUT" help:"File to write; its name tells the format. - is stdout."`
	Format string   `short:"f" placeholder:"NAME" help:"Format, if the name of OUT does not tell: ${formats}."`
	Strict bool     `help:"Exit with 3 if something recorded is missing from the output."`
	Losses string   `placeholder:"FILE" help:"Write the ledger as JSON: what is missing from the output, or uncertain in it. - is stdout."`
	Quiet  bool     `short:"q" help:"No progress, no ledger on stderr."`
	failIf
	resources
}

func (c *convertCmd) Help() string {
	return `Examples:
  gprof-convert out/session -o profile.gecko.json.gz
  gprof-convert /dev/shm/gprof/checkout -f gecko -o - | gzip > profile.json.gz
  gprof-convert --strict dump1 dump2 -o both.json.gz

Open the result at https://profiler.firefox.com with "Load a profile from file".

Formats, by the end of OUT's name; .gz behind it compresses:
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
	options.Jobs = c.Jobs.number()
	found, err := s.open(c.Inputs)
	if err != nil {
		return err
	}
	if err := c.checkNames(found); err != nil {
		return &exitError{exitUsage, err}
	}
	if err := found.Usable(); err != nil {
		return err
	}
	out, err := s.create(c.Output, !format.Readable(options))
	if err != nil {
		return err
	}
	written, err := c.copy(s, out, found.Source(), func(w io.Writer) (stream.Sink, error) { return format.New(w, options) })
	if err != nil {
		out.discard()
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	return c.settle(s, found, written)
}

// format is that of --format, else that of the output's name.
func (c *convertCmd) format() (convert.Format, convert.Options, error) {
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
		names = append(names, f.Name, f.Name+".gz")
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
		if name != "" && name != "-" && amongInputs(name, found) {
			return fmt.Errorf("%s lies among the files of a recording; give it a name elsewhere", name)
		}
	}
	return nil
}

func amongInputs(name string, found *ingest.Found) bool {
	dir, err := os.Stat(filepath.Dir(name))
	if err != nil {
		return false
	}
	for _, p := range found.Processes {
		if d, err := os.Stat(p.Location); err == nil && os.SameFile(d, dir) {
			return true
		}
	}
	return false
}

// copy runs the pipe until it ends or the user interrupts it, and tells what
// went through.
func (c *convertCmd) copy(s *streams, out *output, src stream.Source, newSink func(io.Writer) (stream.Sink, error)) (*stream.Count, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bar := s.newProgress(c.Quiet)
	defer bar.clear()
	sink, err := newSink(&interruptibleWriter{ctx, out})
	if err != nil {
		return nil, err
	}
	written := new(stream.Count)
	err = stream.Copy(stream.Tee(sink, written), &interruptibleSource{ctx, src}, stream.CopyOptions{SpillDir: out.inDirectory(), Progress: bar.show})
	if ctx.Err() != nil {
		return nil, errors.New("interrupted; nothing was written")
	}
	return written, err
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
	if err := partly(found); err != nil {
		return err
	}
	if worst, any := ledger.Worst(); c.Strict && any && worst == stream.Loss {
		return &exitError{exitLossy, errors.New("something recorded is missing from the output; --losses FILE says what")}
	}
	return c.check(ledger)
}

// contents sums up an output in a few words.
func contents(c *stream.Count) string {
	of := func(k stream.Kind) stream.Tally {
		return c.Sum(func(s stream.Series) bool { return s.Kind == k })
	}
	return fmt.Sprintf("%d process(es), %d samples, %d markers, %d counter rows", len(c.Tables.Processes),
		of(stream.Samples).Samples, of(stream.Markers).Rows, of(stream.Counts).Rows)
}
