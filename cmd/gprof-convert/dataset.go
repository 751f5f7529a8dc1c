package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// prepareDataSets begins the data sets of a batch, or brings what belongs to
// none of their inputs up to date.
func (b *batch) prepareDataSets(s *streams) error {
	for i := range b.formats {
		if t := &b.formats[i]; t.format.DataSet() {
			t.name = b.dataSet(*t)
			if err := s.prepareDataSet(*t); err != nil {
				return err
			}
		}
	}
	return nil
}

// dataSet is where that of a format is: where it was, else in the directory of
// outputs if that is for nothing else.
func (b *batch) dataSet(t target) string {
	inner := filepath.Join(b.Output, t.format.Name)
	for _, dir := range []string{b.Output, inner} {
		if text, err := os.ReadFile(filepath.Join(dir, t.format.Stamp)); err == nil && string(text) == t.format.StampText {
			return dir
		}
	}
	all := directory{name: b.Output, shared: &shared{}}
	if len(b.formats) == 1 && all.vacant() {
		return b.Output
	}
	return inner
}

func (s *streams) prepareDataSet(t target) error {
	if err := refuseLinks(t.name); err != nil {
		return err
	}
	if err := os.MkdirAll(t.name, 0o777); err != nil {
		return err
	}
	t.shared = &shared{begin: func([]string) error { return nil }}
	out, err := s.createDirectory(t, false, anybody)
	if err != nil {
		return err
	}
	if err := t.format.Prepare(out); err != nil {
		s.unfinished.discard(out)
		return err
	}
	return s.unfinished.commit(out)
}

// inDataSet is what an input becomes in a data set. The name of the input tells
// its files from those of another that holds the same.
func (b *batch) inDataSet(t target, input string) *made {
	rel, err := filepath.Rel(b.Output, t.name)
	if err != nil {
		rel = t.format.Name
	}
	m := &made{target: t, outcome: outcome{Input: input, Output: filepath.ToSlash(rel), DataSet: true, From: absolute(b.Dir)}}
	m.options.Among = input
	m.shared = &shared{begin: func(files []string) error {
		m.Files = files
		return b.journal.begin(&m.outcome, files)
	}}
	return m
}

// forget removes from data sets what came from inputs that are gone.
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
		if !o.DataSet || o.From != absolute(b.Dir) || there[key] {
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

// writes returns the data set that an outcome is in, nil if the batch does not
// write it.
func (b *batch) writes(o *outcome) *target {
	for i := range b.formats {
		if t := &b.formats[i]; t.format.DataSet() && t.name == filepath.Join(b.Output, filepath.FromSlash(o.Output)) {
			return t
		}
	}
	return nil
}

// remove removes an outcome from a data set: first the file that says that it is
// complete.
func (j *journal) remove(o *outcome, from *target) error {
	files := j.files(o)
	complete := func(file string) bool { return strings.HasPrefix(file, from.format.Last) }
	rest := slices.DeleteFunc(slices.Clone(files), complete)
	first := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !complete(file) })
	if err := removeFiles(from.name, append(first, rest...)); err != nil {
		return err
	}
	return j.add(o.nothing())
}

// removeFiles removes files below a directory, and the directories that they
// leave empty.
func removeFiles(dir string, files []string) error {
	for _, file := range files {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(file))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	removeEmpty(dir, files)
	return nil
}
