package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gprof/convert"
	"gprof/ingest"
	"gprof/stream"
)

type batchCmd struct {
	Dir    string   `arg:"" help:"Directory with sessions and archives, at any depth."`
	Output string   `short:"o" required:"" placeholder:"OUTDIR" help:"Directory for the outputs; made if it is not there."`
	Format []string `short:"f" default:"firefox.gz" placeholder:"NAME" help:"Format, or several of them, for which an input is read once: ${formats}. Default: ${default}."`
	Again  bool     `help:"Convert all, also what is done and has not changed."`
	Keep   bool     `name:"keep-removed" help:"Leave in a data set what came from inputs of DIR that are gone."`
	per
	compressing
	sums
	conversion
}

func (c *batchCmd) Help() string {
	return `Examples:
  gprof-convert batch dumps -o profiles
  gprof-convert batch --strict --fail-if gap -f firefox dumps -o profiles
  gprof-convert batch --symbols bin/ dumps -o profiles    # later, with names
  gprof-convert batch -f firefox.gz,pprof,html dumps -o profiles
  gprof-convert batch -f parquet dumps -o tables
  gprof-convert batch -f pprof --per interval=10s dumps -o profiles

Each session directory and each archive below DIR becomes one output of the same
path, or one of each format: dumps/a/shop becomes profiles/a/shop.firefox.json.gz. A
bad one is named, and the others go on. One in which no process, track or marker is
what the flags ask for gets no output, and is no failure; one that was made of it
before goes. With --per it becomes a directory of files: dumps/a/shop becomes
profiles/a/shop/shop-4711.pb.gz and so on.

A batch that ended early goes on when it is started again: what is done and whose
input, flags and program have not changed is left as it is. What is done is told
by ` + journalName + ` in OUTDIR; outputs may be taken away, and are made again.

Parquet becomes one data set of all inputs, to which a batch of another directory
adds: in OUTDIR itself if it is the only format, else in OUTDIR/parquet. Its
queries are about all of them:

    cd tables && duckdb <queries/p99-by-version.sql

An input that changed replaces what came from it, one that is gone takes it along.

Of tables (arrow, parquet), what several inputs hold of one process, such as
snapshots of it while it runs, is counted once, for the first of them. With
--from, --to or --last each has all of its own.

--mem and --jobs are for all that is converted at a time. Exit codes: 1 if
anything was not converted, else 3 for --strict, else 4 for --fail-if.`
}

// batch is one run.
type batch struct {
	*batchCmd
	formats  []target        // without names
	split    map[string]bool // formats of which each output is many files
	settings string          // that have a part in what an output is, besides its format
	journal  *journal
	coverage *coverage // nil if outputs have nothing to do with each other
	turns    *turns    // of the items that are being made
}

// item is one input of a batch and what became of it.
type item struct {
	turn     int    // among those that are being made
	input    string // path
	name     string // of the input below Dir, with slashes
	outputs  []*made
	asBefore bool  // all was made by an earlier run
	nothing  bool  // of it is asked for, so there are no outputs
	err      error // it could not be made
}

// made is one output of an item.
type made struct {
	target
	outcome
	asBefore bool // it was made by an earlier run
}

// minShare is the least memory to convert one item with: less would make tables
// too large for it that all of the memory can hold.
const minShare = 64 << 20

// Run converts what is not done yet.
func (c *batchCmd) Run(s *streams) error {
	c.apply()
	b := &batch{batchCmd: c}
	if err := b.chooseFormats(); err != nil {
		return &exitError{exitUsage, err}
	}
	if err := c.filtering.check(); err != nil {
		return err
	}
	if err := errors.Join(c.lasting(), c.prepare(), c.failIf.alone()); err != nil {
		return err
	}
	if err := refuseLinks(c.Output); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Output, 0o777); err != nil {
		return err
	}
	removeStale(c.Output)
	if err := b.prepareDataSets(s); err != nil {
		return err
	}
	items, err := b.items()
	if err != nil {
		return err
	}
	if b.settings, err = b.describeSettings(s); err != nil {
		return err
	}
	if b.journal, err = s.openJournal(c.Output); err != nil {
		return err
	}
	defer b.journal.close()
	if err := b.forget(items); err != nil {
		return err
	}
	if b.overlapping() {
		b.coverage = newCoverage(b.journal, b.settings, absolute(b.Dir))
	}
	if err := b.convertAll(s, items); err != nil {
		return err
	}
	s.printBatch(items, c.Quiet)
	return b.judgeAll(items)
}

// overlapping reports whether what two inputs both hold is to be in one output
// only: in tables, which are read together. Where times count from the end of
// each input, what was left out of one is not elsewhere.
func (b *batch) overlapping() bool {
	return !b.period.given() && slices.ContainsFunc(b.formats, func(t target) bool { return t.format.Directory() })
}

// chooseFormats reads the names of formats, each of which writes files of its
// own extension.
func (b *batch) chooseFormats() error {
	names := map[string]string{}
	for _, name := range b.Format {
		f, o, err := convert.ByFormat(name)
		if err != nil {
			return err
		}
		extension := f.Extension(o)
		if other := names[extension]; other != "" {
			return fmt.Errorf("--format %s and %s both write files named %s; give one of them", other, name, extension)
		}
		names[extension] = name
		b.formats = append(b.formats, target{format: f, options: o})
	}
	if err := errors.Join(b.compress(b.formats), b.sums.set(b.formats)); err != nil {
		return err
	}
	var err error
	b.split, err = b.splits()
	return err
}

// items lists what there is to convert.
func (b *batch) items() ([]*item, error) {
	if info, err := os.Stat(b.Dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, &exitError{exitUsage, fmt.Errorf("%s is no directory; to convert one input: gprof-convert %s -o OUT", b.Dir, b.Dir)}
	}
	var items []*item
	for _, path := range ingest.Groups(b.Dir, b.isOutput) {
		rel, err := filepath.Rel(b.Dir, path)
		if err != nil {
			return nil, err
		}
		if rel == "." { // the directory is itself a session
			rel = filepath.Base(absolute(b.Dir))
		}
		items = append(items, &item{input: path, name: filepath.ToSlash(rel), outputs: b.outputs(rel)})
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s: %w below this directory", b.Dir, ingest.ErrNothing)
	}
	return items, nil
}

// outputs lists those of an input, by its name below Dir.
func (b *batch) outputs(rel string) (all []*made) {
	for _, t := range b.formats {
		if t.format.DataSet() {
			all = append(all, b.inDataSet(t, filepath.ToSlash(rel)))
			continue
		}
		if b.split[t.format.Name] {
			all = append(all, b.inMany(t, rel))
			continue
		}
		name := rel + t.format.Extension(t.options)
		t.name = filepath.Join(b.Output, name)
		all = append(all, &made{target: t, outcome: outcome{Input: filepath.ToSlash(rel), Output: filepath.ToSlash(name)}})
	}
	return all
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// isOutput reports whether a path is the directory of outputs, which may lie
// among the inputs.
func (b *batch) isOutput(path string) bool {
	out, err1 := os.Stat(b.Output)
	info, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(out, info)
}

// describeSettings tells the program and all flags that change an output.
func (b *batch) describeSettings(s *streams) (string, error) {
	version, err := program()
	if err != nil {
		return "", err
	}
	o := b.how().options(s)
	o.Stdin, o.Stall, o.TempDir, o.Jobs = nil, 0, "", 0
	text := fmt.Sprintf("%s %#v %#v %#v %#v", version, o, b.filtering, b.compressing, b.sums) + fmt.Sprintf(" %#v", b.Per) + b.redacting.settings()
	for _, path := range o.Symbols {
		sum, err := fingerprint(path, func(string) bool { return false })
		if err != nil {
			return "", err
		}
		text += " " + sum
	}
	return text, nil
}

// convertAll converts items, some at a time; those that need more memory than
// their share follow alone. The error is one that concerns all of them.
func (b *batch) convertAll(s *streams, items []*item) error {
	if err := b.convertOnce(s, items); err != nil || b.coverage == nil {
		return err
	}
	// An output that was made again may hold less than others rely on.
	again := slices.DeleteFunc(slices.Clone(items), func(it *item) bool {
		return it.err != nil || !slices.ContainsFunc(it.outputs, func(m *made) bool { return !b.coverage.stands(&m.outcome) })
	})
	if len(again) == 0 {
		return nil
	}
	return b.convertOnce(s, again)
}

func (b *batch) convertOnce(s *streams, items []*item) error {
	workers := b.workers(len(items))
	if err := b.convertSome(s, items, workers); err != nil || workers == 1 {
		return err
	}
	var large []*item
	for _, it := range items {
		var tooMuch *stream.ErrMemory
		if errors.As(it.err, &tooMuch) {
			it.err = nil
			large = append(large, it)
		}
	}
	return b.convertSome(s, large, 1)
}

func (b *batch) convertSome(s *streams, items []*item, workers int) error {
	b.turns = newTurns(len(items))
	for i, it := range items {
		it.turn = i
	}
	var failed stream.FailureLatch
	todo, done := make(chan *item), make(chan *item)
	var all sync.WaitGroup
	for range workers {
		each := b.conversion
		each.Mem /= memory(workers)
		each.Jobs = cores(max(1, b.Jobs.number()/workers))
		all.Go(func() {
			for it := range todo {
				if !failed.Failed() {
					failed.Set(b.convertItem(s, &each, it))
				}
				b.turns.done(it.turn)
				done <- it
			}
		})
	}
	go func() {
		for _, it := range items {
			todo <- it
		}
		close(todo)
	}()
	b.watch(s, done, len(items))
	all.Wait()
	return failed.Err()
}

// workers is how many items are converted at a time.
func (b *batch) workers(items int) int {
	return max(1, min(items, b.Jobs.number(), int(b.Mem/minShare)))
}

// watch tells how many items are done.
func (b *batch) watch(s *streams, done <-chan *item, n int) {
	bar := s.newProgress(b.Quiet)
	defer bar.end()
	logger := bar.logger()
	defer logger.Done()
	for i, round := range logger.Loop(0, stream.Whole, n, "") {
		it := <-done
		round.Set(stream.Whole, it.name)
		bar.tell(fmt.Sprintf("%d of %d%s", i+1, n, bar.left()))
	}
}

// convertItem makes the outputs of an item that are not there. The error
// concerns all items: what is wrong with this one is noted in it.
func (b *batch) convertItem(s *streams, each *conversion, it *item) error {
	before, err := fingerprint(it.input, b.isOutput)
	if err != nil {
		it.err = err
		return nil
	}
	todo := b.missing(it, before)
	if it.asBefore = len(todo) == 0; it.asBefore {
		return nil
	}
	it.err = b.make(s, each, it, todo)
	if it.nothing = errors.Is(it.err, stream.ErrNoMatch) || errors.Is(it.err, errNoCrash); it.nothing {
		return b.withdraw(todo)
	} else if it.err != nil {
		return nil
	}
	for _, m := range todo {
		if m.Size, err = b.journal.size(&m.outcome); err != nil {
			return err
		}
		if err := b.journal.add(m.outcome); err != nil {
			return err
		}
	}
	return nil
}

// missing are the outputs of an item that must be made.
func (b *batch) missing(it *item, fingerprint string) (todo []*made) {
	for _, m := range it.outputs {
		m.Fingerprint, m.Settings = fingerprint, b.settings
		if before, ok := b.journal.unchanged(m.outcome); ok && !b.Again && b.stands(&before) {
			m.outcome, m.asBefore = before, true
		} else {
			m.asBefore = false
			todo = append(todo, m)
		}
	}
	return todo
}

// stands reports whether what an output left out is still in others.
func (b *batch) stands(o *outcome) bool { return b.coverage == nil || b.coverage.stands(o) }

// make converts an item in one pass.
func (b *batch) make(s *streams, each *conversion, it *item, todo []*made) error {
	for _, m := range todo {
		if err := refuseLinks(m.room()); err != nil {
			return err
		}
		if err := os.MkdirAll(m.room(), 0o777); err != nil {
			return err
		}
	}
	o := each.how().options(s)
	o.TempDir = todo[0].room()
	found, err := ingest.Find([]string{it.input}, o)
	if err != nil {
		return err
	}
	defer found.Close()
	silent := &progress{now: time.Now}
	j := job{found: found, replace: true, per: b.Per, progress: silent.all()}
	for _, m := range todo {
		if found.Reads(m.name) {
			return fmt.Errorf("%s would lie among the files of a recording; give -o another directory", m.name)
		}
		if b.coverage != nil && m.format.Directory() {
			b.turns.wait(it.turn, instancesOf(found))
			m.options.Elsewhere = b.coverage.elsewhere(&m.outcome, instancesOf(found))
		}
		if m.shared != nil {
			m.shared.before = b.journal.files(&m.outcome)
		}
		j.targets = append(j.targets, m.target)
	}
	written, err := each.do(s, j)
	if err != nil {
		return err
	}
	for i, m := range todo {
		m.Incomplete = found.Failed()
		m.Reasons = reasonsOf(written.outputs[i].Ledger())
		if b.coverage != nil && m.format.Directory() {
			b.coverage.made(&m.outcome, written.Tables.Processes, m.options.Elsewhere)
		}
	}
	return nil
}

// instancesOf are those of the processes that were found.
func instancesOf(found *ingest.Found) (all []uint64) {
	for _, p := range found.Processes {
		all = append(all, p.Instance)
	}
	return all
}

// reasonsOf names the reasons in a ledger.
func reasonsOf(l *stream.Ledger) []string {
	names := []string{}
	for _, line := range l.Lines() {
		names = append(names, stream.Reasons[line.Reason].Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// reasons are those in the ledgers of an item.
func (it *item) reasons() (all []string) {
	for _, m := range it.outputs {
		all = append(all, m.Reasons...)
	}
	return all
}

// losses says for which reasons something of an item is missing.
func (it *item) losses() []string {
	var lost []string
	for _, r := range stream.Reasons {
		if r.Severity == stream.Loss && slices.Contains(it.reasons(), r.Name) {
			lost = append(lost, r.Text)
		}
	}
	return lost
}

// incomplete reports whether parts of an item could not be read.
func (it *item) incomplete() bool {
	return slices.ContainsFunc(it.outputs, func(m *made) bool { return m.Incomplete > 0 })
}

// maxNamed is how many items are named for what is wrong with them.
const maxNamed = 20

// printBatch tells what became of the items; quietly, which failed.
func (s *streams) printBatch(items []*item, quiet bool) {
	var before, nothing, failed, lossy int
	for _, it := range items {
		switch lost := it.losses(); {
		case it.nothing:
			nothing++
		case it.err != nil:
			failed++
			if failed <= maxNamed {
				s.problem("warning", fmt.Errorf("%s: not converted: %s", it.name, oneLine(it.err)))
			}
		case len(lost) > 0 || it.incomplete():
			lossy++
			if it.incomplete() {
				lost = append(lost, "parts could not be read")
			}
			if lossy <= maxNamed && !quiet {
				s.problem("warning", fmt.Errorf("%s: not all of it is in the output: %s", it.name, strings.Join(lost, ", ")))
			}
		}
		if it.asBefore {
			before++
		}
	}
	if quiet {
		return
	}
	none := ""
	if nothing > 0 {
		none = fmt.Sprintf(", %d have nothing that was asked for", nothing)
	}
	s.say(fmt.Sprintf("%d of %d converted, %d were done before%s, %d failed; %d lack something that was recorded",
		len(items)-before-nothing-failed, len(items), before, none, failed, lossy))
}

// oneLine is an error without line breaks.
func oneLine(err error) string { return strings.Join(strings.Split(err.Error(), "\n"), "; ") }

// judgeAll is the error of the batch.
func (b *batch) judgeAll(items []*item) error {
	var nothing, failed, lossy, hit int
	for _, it := range items {
		switch {
		case it.nothing:
			nothing++
		case it.err != nil || it.incomplete():
			failed++
		case len(it.losses()) > 0:
			lossy++
		}
		if b.hits(it.reasons()) {
			hit++
		}
	}
	switch {
	case nothing == len(items):
		return fmt.Errorf("no input has what was asked for; of the first: %w", items[0].err)
	case failed > 0:
		return fmt.Errorf("%d of %d inputs were not converted, or not all of them; mend or replace them and start the batch again: the others are left as they are", failed, len(items))
	case b.Strict && lossy > 0:
		return &exitError{exitLossy, fmt.Errorf("something recorded is missing from %d of %d outputs", lossy, len(items))}
	case hit > 0:
		return &exitError{exitLimit, fmt.Errorf("--fail-if %s: %d of %d outputs", b.text(), hit, len(items))}
	}
	return nil
}
