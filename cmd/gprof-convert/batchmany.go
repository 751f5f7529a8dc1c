package main

import (
	"fmt"
	"os"
	"path/filepath"

	"gprof/convert"
)

// splits are the formats of a batch of which each output is many files, by
// their names.
func (b *batch) splits() (names map[string]bool, err error) {
	if b.Per.by == "" {
		return nil, nil
	}
	names = map[string]bool{}
	for _, t := range b.formats {
		switch {
		case !t.format.Directory():
			names[t.format.Name] = true
		case b.Per.by == "interval":
			return nil, fmt.Errorf("--format %s is a whole that --per interval has no place for: events come interval by interval; write it in a batch of its own", t.format.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("--per %s makes many files, but tables, in which all can be told apart anyway, are not split; give another --format", b.Per.by)
	}
	return names, nil
}

// inMany is what an input becomes that is many files: they lie in a directory
// that is called as the input.
func (b *batch) inMany(t target, rel string) *made {
	pattern := usual[b.Per.by] + t.format.Extension(t.options)
	t.many, t.root = true, filepath.Join(b.Output, rel)
	t.name = filepath.Join(t.root, pattern)
	m := &made{target: t, outcome: outcome{Input: filepath.ToSlash(rel), Output: filepath.ToSlash(rel), Pattern: filepath.ToSlash(pattern)}}
	m.shared = &shared{begin: func(files []string) error {
		m.Files = files
		return b.journal.begin(&m.outcome, files)
	}}
	return m
}

// withdraw removes what earlier runs made of an item that has nothing any more
// of what is asked for: who reads all outputs would take it for an answer.
func (b *batch) withdraw(todo []*made) error {
	for _, m := range todo {
		before, ok := b.journal.before(&m.outcome)
		if !ok {
			continue
		}
		if b.coverage != nil && m.format.Directory() {
			b.coverage.made(&before, nil, convert.Elsewhere{})
		}
		if err := b.journal.withdraw(&before, &m.target); err != nil {
			return err
		}
	}
	return nil
}

// before is what was made earlier where now would be made.
func (j *journal) before(now *outcome) (outcome, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o, ok := j.done[now.key()]
	return o, ok
}

// withdraw removes an outcome.
func (j *journal) withdraw(o *outcome, t *target) error {
	at := filepath.Join(j.dir, filepath.FromSlash(o.Output))
	switch {
	case o.DataSet:
		return j.remove(o, t)
	case o.Pattern != "":
		if err := removeFiles(at, j.files(o)); err != nil {
			return err
		}
		os.Remove(at) // if nothing else is in it
	default:
		if err := os.RemoveAll(at); err != nil {
			return err
		}
	}
	return j.add(o.nothing())
}
