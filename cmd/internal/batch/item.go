package batch

import (
	"slices"

	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/stream"
	"gprof/stream/wording"
)

// Options are the flags and arguments of a batch.
type Options struct {
	Dir      string     `arg:"" help:"Directory with sessions and archives, at any depth."`
	Output   string     `short:"o" required:"" placeholder:"OUTDIR" help:"Directory for the outputs; made if it is not there."`
	Format   []string   `short:"f" default:"firefox.gz" placeholder:"NAME" help:"Format, or several of them, for which an input is read once: ${formats}. Default: ${default}."`
	Again    bool       `help:"Convert all, also what is done and has not changed."`
	Keep     bool       `name:"keep-removed" help:"Leave in a data set what came from inputs of DIR that are gone."`
	Together bool       `help:"With --sum, one profile for each service instead of one for each input."`
	SumBy    string     `default:"service" enum:"service,all" placeholder:"WHAT" help:"With --together, one profile for each service, or of all. Default: ${default}."`
	TaskSize input.Size `default:"64MiB" placeholder:"SIZE" help:"How much of the inputs of a data set is converted together. Default: ${default}."`
	conversion.Parts
	conversion.Columns
	conversion.Sums
	conversion.Flags
}

// batch is one run.
type batch struct {
	*Options
	formats  []conversion.Target // without names, of which each input becomes an output of its own
	split    map[string]bool     // formats whose outputs are many files each
	settings string              // that outputs depend on, besides the format
	journal  *journal
}

// item is one input of a batch and its outputs.
type item struct {
	input    string // path
	name     string // of the input below Dir, with slashes
	outputs  []*product
	asBefore bool  // all was made by an earlier run
	nothing  bool  // nothing in it matches the filters, so there are no outputs
	err      error // why it could not be converted
}

// product is one output of an item.
type product struct {
	conversion.Target
	outcome
	asBefore bool // it was made by an earlier run
}

// reasons are the names of the reasons in the ledgers of an item.
func (it *item) reasons() (all []string) {
	for _, m := range it.outputs {
		all = append(all, m.Reasons...)
	}
	return all
}

// losses says why something of an item is missing.
func (it *item) losses() []string {
	var lost []string
	for r := range stream.NumReasons {
		if r.Severity() == stream.Loss && slices.Contains(it.reasons(), r.String()) {
			lost = append(lost, wording.Reason(r))
		}
	}
	return lost
}

// incomplete reports whether parts of an item could not be read.
func (it *item) incomplete() bool {
	return slices.ContainsFunc(it.outputs, func(m *product) bool { return m.Incomplete > 0 })
}

// passing reports whether parts could not be read for a reason that may be gone the next time.
func (it *item) passing() bool {
	return slices.ContainsFunc(it.outputs, func(m *product) bool { return m.outcome.passing() })
}
