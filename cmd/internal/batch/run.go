// Package batch converts each recording below a directory and goes on where an earlier
// run stopped.
//
//  1. What is one whole of all inputs, such as a data set, is made by a plan of package
//     fleet (together.go).
//  2. The items are listed: each session and each archive, with its outputs (run.go,
//     folders.go).
//  3. The journal tells which of these outputs are there already, made of the same
//     bytes with the same settings (journal.go, settings.go).
//  4. The other outputs are made, some at a time.
//  5. The results are told, and decide on the exit code (outcome.go).
package batch

import (
	"cmp"
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
	whole, err := b.wholes()
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	for _, w := range whole {
		err = errors.Join(err, w.Run(s))
	}
	if len(b.formats) > 0 {
		err = errors.Join(err, b.apart(s))
	}
	return err
}

// apart converts each input by itself.
func (b *batch) apart(s *input.Tool) error {
	for _, path := range []string{b.Dir, b.Output} {
		if fsys, _, err := s.Mount(path); err != nil || fsys != nil {
			return cmp.Or(err, console.Exit(console.Usage, fmt.Errorf("%s: outputs of single inputs are made of directories, in directories; of a bucket, or into one, -f parquet or --sum --together", path)))
		}
	}
	if err := output.RefuseLinks(b.Output); err != nil {
		return err
	}
	if err := os.MkdirAll(b.Output, 0o777); err != nil {
		return err
	}
	output.RemoveStale(b.Output)
	items, err := b.items(s.Sources)
	if err != nil {
		return err
	}
	if b.settings, err = b.describe(); err != nil {
		return err
	}
	if b.journal, err = openJournal(s.Outputs, b.Output); err != nil {
		return err
	}
	defer b.journal.close()
	if err := b.convertAll(s, items); err != nil {
		return err
	}
	printBatch(s, items, b.Quiet)
	return b.judgeAll(items)
}

// minShare is the least memory to convert an item with: with less, tables that fit into
// all of the memory would be too large.
const minShare = 64 << 20

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
	before, _, err := input.Fingerprint(it.input, b.isOutput)
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
		if before, ok := b.journal.unchanged(m.outcome); ok && !b.Again {
			m.outcome, m.asBefore = before, true
		} else {
			m.asBefore = false
			todo = append(todo, m)
		}
	}
	return todo
}

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
	}
	return nil
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
