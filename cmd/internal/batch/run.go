// Package batch converts each recording below a directory and goes on where an earlier
// run stopped.
//
//  1. The items are listed: each session and each archive, with its outputs (run.go,
//     folders.go).
//  2. The journal tells which of these outputs are there already, made of the same
//     bytes with the same settings (journal.go, fingerprint.go, settings.go).
//  3. The other outputs are made, some at a time. Rows that two snapshots of one
//     process both have go into tables once (coverage.go, schedule.go).
//  4. The results are told, and decide on the exit code (outcome.go).
package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/progress"
	"gprof/cmd/internal/selection"
	"gprof/convert"
	"gprof/ingest"
	"gprof/stream"
	"gprof/stream/filter"
)

// Run converts all that is not done yet.
func (c *Options) Run(s *input.Tool) error {
	b := &batch{Options: c}
	if err := b.chooseFormats(s.Formats); err != nil {
		return console.Exit(console.Usage, err)
	}
	if err := c.Filter.Check(); err != nil {
		return err
	}
	if err := errors.Join(c.Lasting(), c.Prepare(), c.Limits.Alone()); err != nil {
		return err
	}
	if err := output.RefuseLinks(c.Output); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Output, 0o777); err != nil {
		return err
	}
	output.RemoveStale(c.Output)
	if err := b.prepareDataSets(s); err != nil {
		return err
	}
	items, err := b.items(s.Sources)
	if err != nil {
		return err
	}
	if b.settings, err = b.describe(); err != nil {
		return err
	}
	if b.journal, err = openJournal(s.Outputs, c.Output); err != nil {
		return err
	}
	defer b.journal.close()
	if err := b.forget(items); err != nil {
		return err
	}
	if b.overlapping() {
		b.coverage = newCoverage(b.journal, b.settings, output.Absolute(b.Dir))
	}
	if err := b.convertAll(s, items); err != nil {
		return err
	}
	printBatch(s, items, c.Quiet)
	return b.judgeAll(items)
}

// minShare is the least memory to convert an item with: with less, tables that fit into
// all of the memory would be too large.
const minShare = 64 << 20

// overlapping reports whether rows that two inputs both have must be in one output only:
// in tables, which are read together. If times count from the end of each input, rows
// left out of one output need not be in another.
func (b *batch) overlapping() bool {
	return !b.Period.Given() && slices.ContainsFunc(b.formats, func(t conversion.Target) bool { return t.Format.Directory() })
}

// chooseFormats reads the names of formats, which must write files with different
// extensions.
func (b *batch) chooseFormats(table convert.Table) error {
	names := map[string]string{}
	for _, name := range b.Format {
		f, o, err := table.ByFormat(name)
		if err != nil {
			return err
		}
		extension := f.Extension(o)
		if other := names[extension]; other != "" {
			return fmt.Errorf("--format %s and %s both write files named %s; give one of them", other, name, extension)
		}
		names[extension] = name
		b.formats = append(b.formats, conversion.Target{Format: f, Options: o})
	}
	if err := errors.Join(b.Compress(b.formats), b.Sums.Set(table, b.formats)); err != nil {
		return err
	}
	var err error
	b.split, err = b.splits()
	return err
}

// items lists the inputs.
func (b *batch) items(sources []ingest.Format) ([]*item, error) {
	if info, err := os.Stat(b.Dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, console.Exit(console.Usage, fmt.Errorf("%s is no directory; to convert one input: gprof-convert %s -o OUT", b.Dir, b.Dir))
	}
	var items []*item
	for _, path := range ingest.Groups(b.Dir, b.isOutput, sources...) {
		rel, err := filepath.Rel(b.Dir, path)
		if err != nil {
			return nil, err
		}
		if rel == "." { // the directory is itself a session
			rel = filepath.Base(output.Absolute(b.Dir))
		}
		items = append(items, &item{input: path, name: filepath.ToSlash(rel), outputs: b.outputs(rel)})
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s: %w below this directory", b.Dir, ingest.ErrNothing)
	}
	return items, nil
}

// outputs lists the outputs of an input, whose name is relative to Dir.
func (b *batch) outputs(rel string) (all []*product) {
	for _, t := range b.formats {
		if t.Format.DataSet() {
			all = append(all, b.inDataSet(t, filepath.ToSlash(rel)))
			continue
		}
		if b.split[t.Format.Name] {
			all = append(all, b.inMany(t, rel))
			continue
		}
		name := rel + t.Format.Extension(t.Options)
		t.Name = filepath.Join(b.Output, name)
		all = append(all, &product{Target: t, outcome: outcome{Input: filepath.ToSlash(rel), Output: filepath.ToSlash(name)}})
	}
	return all
}

// isOutput reports whether a path is the directory of outputs, which may be below that of
// inputs.
func (b *batch) isOutput(path string) bool {
	out, err1 := os.Stat(b.Output)
	info, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(out, info)
}

// convertAll converts items, some at a time; those that need more memory than their share
// follow one by one. The error is one that concerns all items.
func (b *batch) convertAll(s *input.Tool, items []*item) error {
	if err := b.convertOnce(s, items); err != nil || b.coverage == nil {
		return err
	}
	// An output that was made again may hold less than others rely on.
	again := slices.DeleteFunc(slices.Clone(items), func(it *item) bool {
		return it.err != nil || !slices.ContainsFunc(it.outputs, func(m *product) bool { return !b.coverage.stands(&m.outcome) })
	})
	if len(again) == 0 {
		return nil
	}
	return b.convertOnce(s, again)
}

func (b *batch) convertOnce(s *input.Tool, items []*item) error {
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

func (b *batch) convertSome(s *input.Tool, items []*item, workers int) error {
	b.schedule = newSchedule(len(items))
	for i, it := range items {
		it.turn = i
	}
	doing, fail := context.WithCancelCause(context.Background())
	defer fail(nil)
	todo, done := make(chan *item), make(chan *item)
	var all sync.WaitGroup
	for range workers {
		each := b.Flags
		each.Mem /= input.Memory(workers)
		each.Jobs = input.Cores(max(1, b.Jobs.Number()/workers))
		all.Go(func() {
			for it := range todo {
				if doing.Err() == nil {
					if err := b.convertItem(s, &each, it); err != nil {
						fail(err)
					}
				}
				b.schedule.done(it.turn)
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
	return context.Cause(doing) // the first error
}

// workers is the number of items that are converted at a time.
func (b *batch) workers(items int) int {
	return max(1, min(items, b.Jobs.Number(), int(b.Mem/minShare)))
}

// watch shows how many items are done.
func (b *batch) watch(s *input.Tool, done <-chan *item, n int) {
	bar := s.NewBar(b.Quiet)
	defer bar.End()
	logger := bar.Logger()
	defer logger.Done()
	for i, round := range logger.Loop(0, progress.Whole, n, "") {
		it := <-done
		round.Set(progress.Whole, it.name)
		bar.Tell(fmt.Sprintf("%d of %d%s", i+1, n, bar.Left()))
	}
}

// convertItem makes the missing outputs of an item. The error concerns all items; one of
// this item alone is kept in it.
func (b *batch) convertItem(s *input.Tool, each *conversion.Flags, it *item) error {
	before, err := input.Fingerprint(it.input, b.isOutput)
	if err != nil {
		it.err = err
		return nil
	}
	todo := b.missing(it, before)
	if it.asBefore = len(todo) == 0; it.asBefore {
		return nil
	}
	it.err = b.make(s, each, it, todo)
	if it.nothing = errors.Is(it.err, filter.ErrNoMatch) || errors.Is(it.err, selection.ErrNoCrash); it.nothing {
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
func (b *batch) missing(it *item, fingerprint string) (todo []*product) {
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

// stands reports whether rows that an output left out are still in others.
func (b *batch) stands(o *outcome) bool { return b.coverage == nil || b.coverage.stands(o) }

// make converts an item in one pass.
func (b *batch) make(s *input.Tool, each *conversion.Flags, it *item, todo []*product) error {
	for _, m := range todo {
		if err := output.RefuseLinks(m.Room()); err != nil {
			return err
		}
		if err := os.MkdirAll(m.Room(), 0o777); err != nil {
			return err
		}
	}
	found, err := ingest.Find([]string{it.input}, each.Options(s, todo[0].Room()))
	if err != nil {
		return err
	}
	defer found.Close()
	j := conversion.Job{Found: found, Replace: true, Per: b.Per}
	for _, m := range todo {
		if found.Reads(m.Name) {
			return fmt.Errorf("%s would lie among the files of a recording; give -o another directory", m.Name)
		}
		if b.coverage != nil && m.Format.Directory() {
			b.schedule.wait(it.turn, instancesOf(found))
			m.Options.Elsewhere = b.coverage.elsewhere(&m.outcome, instancesOf(found))
		}
		if m.Shared != nil {
			m.Shared.Before = b.journal.files(&m.outcome)
		}
		j.Targets = append(j.Targets, m.Target)
	}
	written, err := each.Do(s, j)
	if err != nil {
		return err
	}
	for i, m := range todo {
		m.Incomplete = found.Failed()
		m.Reasons = reasonsOf(written.List[i].Ledger())
		if b.coverage != nil && m.Format.Directory() {
			b.coverage.made(&m.outcome, written.Tables.Processes, m.Options.Elsewhere)
		}
	}
	return nil
}

// instancesOf are the instances of the processes that were found.
func instancesOf(found *ingest.Found) (all []uint64) {
	for _, p := range found.Processes {
		all = append(all, p.Instance)
	}
	return all
}

// reasonsOf are the names of the reasons in a ledger.
func reasonsOf(l *stream.Ledger) []string {
	names := []string{}
	for _, line := range l.Lines() {
		names = append(names, line.Reason.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}
