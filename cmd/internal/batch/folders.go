package batch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/convert"
)

// prepareDataSets begins the data sets of a batch, or updates the files that belong to no
// input.
func (b *batch) prepareDataSets(s *input.Tool) error {
	for i := range b.formats {
		if t := &b.formats[i]; t.Format.DataSet() {
			t.Name = b.dataSet(*t)
			if err := conversion.PrepareDataSet(s.Outputs, *t); err != nil {
				return err
			}
		}
	}
	return nil
}

// dataSet is the directory of a format's data set: where it was before, else the
// directory of outputs if that holds nothing else.
func (b *batch) dataSet(t conversion.Target) string {
	inner := filepath.Join(b.Output, t.Format.Name)
	for _, dir := range []string{b.Output, inner} {
		if text, err := os.ReadFile(filepath.Join(dir, t.Format.Stamp)); err == nil && string(text) == t.Format.StampText {
			return dir
		}
	}
	if len(b.formats) == 1 && output.Vacant(b.Output, true) {
		return b.Output
	}
	return inner
}

// inDataSet is the output of an input in a data set. The name of the input tells its
// files from those of another one with the same content.
func (b *batch) inDataSet(t conversion.Target, input string) *product {
	rel, err := filepath.Rel(b.Output, t.Name)
	if err != nil {
		rel = t.Format.Name
	}
	m := &product{Target: t, outcome: outcome{Input: input, Output: filepath.ToSlash(rel), DataSet: true, From: output.Absolute(b.Dir)}}
	m.Options.Among = input
	m.Shared = &output.Shared{Begin: func(files []string) error {
		m.Files = files
		return b.journal.begin(&m.outcome, files)
	}}
	return m
}

// forget removes the files of inputs that are gone from data sets.
func (b *batch) forget(items []*item) error {
	if b.Keep {
		return nil
	}
	there := map[string]bool{}
	for _, it := range items {
		for _, m := range it.outputs {
			there[m.key()] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.journal.done)) {
		o := b.journal.done[key]
		if !o.DataSet || o.From != output.Absolute(b.Dir) || there[key] {
			continue
		}
		if t := b.writes(&o); t != nil {
			if err := b.journal.remove(&o, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// writes returns the data set that an outcome is in, nil if this batch does not write it.
func (b *batch) writes(o *outcome) *conversion.Target {
	for i := range b.formats {
		if t := &b.formats[i]; t.Format.DataSet() && t.Name == filepath.Join(b.Output, filepath.FromSlash(o.Output)) {
			return t
		}
	}
	return nil
}

// splits are the names of the formats whose outputs are many files each.
func (b *batch) splits() (names map[string]bool, err error) {
	if b.Per.By == "" {
		return nil, nil
	}
	names = map[string]bool{}
	for _, t := range b.formats {
		switch {
		case !t.Format.Directory():
			names[t.Format.Name] = true
		case b.Per.By == "interval":
			return nil, fmt.Errorf("--format %s is a whole that --per interval has no place for: events come interval by interval; write it in a batch of its own", t.Format.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("--per %s makes many files, but tables, in which all can be told apart anyway, are not split; give another --format", b.Per.By)
	}
	return names, nil
}

// inMany is the output of an input as many files, in a directory with the name of the
// input.
func (b *batch) inMany(t conversion.Target, rel string) *product {
	pattern := b.Per.Usual() + t.Format.Extension(t.Options)
	t.Many, t.Root = true, filepath.Join(b.Output, rel)
	t.Name = filepath.Join(t.Root, pattern)
	m := &product{Target: t, outcome: outcome{Input: filepath.ToSlash(rel), Output: filepath.ToSlash(rel), Pattern: filepath.ToSlash(pattern)}}
	m.Shared = &output.Shared{Begin: func(files []string) error {
		m.Files = files
		return b.journal.begin(&m.outcome, files)
	}}
	return m
}

// withdraw removes what earlier runs made of an item in which nothing matches the filters
// any more: a reader of all outputs would take it for an answer.
func (b *batch) withdraw(todo []*product) error {
	for _, m := range todo {
		before, ok := b.journal.before(&m.outcome)
		if !ok {
			continue
		}
		if b.coverage != nil && m.Format.Directory() {
			b.coverage.made(&before, nil, convert.Elsewhere{})
		}
		if err := b.journal.withdraw(&before, &m.Target); err != nil {
			return err
		}
	}
	return nil
}
