package batch

import (
	"fmt"
	"os"
	"path/filepath"

	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/fleet"
	"gprof/cmd/internal/output"
)

// dataSet is the directory of a format's data set: where it was before, else the
// directory of outputs if that holds nothing else.
func (b *batch) dataSet(t conversion.Target) string {
	inner := filepath.Join(b.Output, t.Format.Name)
	for _, dir := range []string{b.Output, inner} {
		if text, err := os.ReadFile(filepath.Join(dir, t.Format.Stamp)); err == nil && string(text) == t.Format.StampText {
			return dir
		}
		if _, err := os.Stat(filepath.Join(dir, fleet.Dir)); err == nil { // begun
			return dir
		}
	}
	if len(b.formats) == 1 && output.Vacant(b.Output, true) {
		return b.Output
	}
	return inner
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
		if err := b.journal.withdraw(&before); err != nil {
			return err
		}
	}
	return nil
}
