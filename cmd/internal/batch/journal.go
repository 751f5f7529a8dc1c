package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	slash "path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/output"
	"gprof/stream"
)

// JournalName is the file in the output directory of a batch that says what is
// done: a line of JSON for each output, written when the output has its name.
// A line that was cut short is one that is missing, and its output is made
// again.
const JournalName = ".gprof-batch.jsonl"

// outcome is one line: what was made, of what, and how.
type outcome struct {
	Input       string   `json:"input"`       // below the directory of inputs
	Output      string   `json:"output"`      // below the directory of outputs
	Fingerprint string   `json:"fingerprint"` // of the input's files, before they were read
	Settings    string   `json:"settings"`    // of the program and its flags
	Size        int64    `json:"size"`        // of the output
	Reasons     []string `json:"reasons"`     // of the output's ledger
	Incomplete  int      `json:"incomplete"`  // parts of the input that could not be read

	// Of tables: which positions of recordings the output holds, and which it has
	// not, because another one held them.
	Covers positions `json:"covers,omitempty"`
	Relies positions `json:"relies,omitempty"`

	// Of an input in a data set, which is the output of others, too: the directory
	// of inputs, and which files of the data set are its own. A line without
	// settings comes before the files do, so that whatever ends a run, they are
	// known.
	DataSet bool     `json:"dataset,omitempty"`
	From    string   `json:"from,omitempty"`
	Files   []string `json:"files,omitempty"` // below Output

	// Of an output that is many files, which are in the directory Output: how they
	// are called. Of them, too, a line comes before the files do.
	Pattern string `json:"pattern,omitempty"`
}

// many reports whether the output is some files of a directory.
func (o *outcome) many() bool { return o.DataSet || o.Pattern != "" }

// key tells an output from others.
func (o *outcome) key() string {
	switch {
	case o.DataSet:
		return strings.Join([]string{o.Output, o.From, o.Input}, "\x00")
	case o.Pattern != "":
		return o.Output + "\x00" + o.Pattern
	}
	return o.Output
}

// local reports whether all files of the output are below the directory of outputs:
// files are removed by their names here, and a journal may be anybody's.
func (o *outcome) local() bool {
	elsewhere := func(name string) bool { return !filepath.IsLocal(filepath.FromSlash(name)) }
	return !elsewhere(o.Output) && !slices.ContainsFunc(o.Files, elsewhere)
}

// nothing is the outcome of which nothing is there.
func (o *outcome) nothing() outcome {
	return outcome{Input: o.Input, Output: o.Output, DataSet: o.DataSet, From: o.From, Pattern: o.Pattern}
}

// journal is what earlier runs have done, and what this one does.
type journal struct {
	dir  string
	file *os.File

	mu     sync.Mutex
	done   map[string]outcome // by key
	owners map[string]int     // how many of them have a file of a directory; by its path below dir
}

// openJournal reads what is done in an output directory. It writes the lines
// that still count to a new file, which replaces the old one.
func openJournal(set *output.Set, dir string) (*journal, error) {
	j := &journal{dir: dir, done: map[string]outcome{}, owners: map[string]int{}}
	name := filepath.Join(dir, JournalName)
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(old) {
		var o outcome
		if json.Unmarshal(line, &o) == nil && o.local() {
			j.note(o)
		}
	}
	if err := j.rewrite(set, name); err != nil {
		return nil, err
	}
	j.file, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	return j, err
}

// note takes an outcome for that which counts.
func (j *journal) note(o outcome) {
	count := func(o outcome, n int) {
		for _, file := range o.Files {
			j.owners[slash.Join(o.Output, file)] += n
		}
	}
	count(j.done[o.key()], -1)
	count(o, 1)
	j.done[o.key()] = o
	if len(o.Files) == 0 && (o.DataSet || o.Fingerprint == "") { // it is gone
		delete(j.done, o.key())
	}
}

// files are those of a data set, or of many files, that only this outcome has, as
// far as it was made before.
func (j *journal) files(now *outcome) (own []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, file := range j.done[now.key()].Files {
		if j.owners[slash.Join(now.Output, file)] == 1 {
			own = append(own, file)
		}
	}
	return own
}

// begin notes which files of a data set an outcome will have, besides those that
// it may still have.
func (j *journal) begin(now *outcome, files []string) error {
	begun := now.nothing()
	begun.Files = append(slices.Clone(files), j.files(now)...)
	slices.Sort(begun.Files)
	begun.Files = slices.Compact(begun.Files)
	return j.add(begun)
}

// rewrite writes one line for each output.
func (j *journal) rewrite(set *output.Set, name string) error {
	out, err := set.Create(name, false, output.Anybody)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(out)
	for _, key := range slices.Sorted(maps.Keys(j.done)) {
		if err := lines.Encode(j.done[key]); err != nil {
			out.Discard()
			return err
		}
	}
	return out.Commit()
}

// unchanged returns what was made earlier where now would be made, if it was
// made of the same bytes in the same way and is still there.
func (j *journal) unchanged(now outcome) (outcome, bool) {
	j.mu.Lock()
	o, ok := j.done[now.key()]
	j.mu.Unlock()
	if !ok || o.Input != now.Input || o.Fingerprint != now.Fingerprint || o.Settings != now.Settings || o.passing() {
		return outcome{}, false
	}
	return o, j.whole(o)
}

// whole reports whether an output is as it was made.
func (j *journal) whole(o outcome) bool {
	size, err := j.size(&o)
	return err == nil && size == o.Size
}

// size is that of an output, or of the files that are it in a directory.
func (j *journal) size(o *outcome) (size int64, err error) {
	at := filepath.Join(j.dir, filepath.FromSlash(o.Output))
	if !o.many() {
		return sizeOf(at)
	}
	for _, file := range o.Files {
		n, err := sizeOf(filepath.Join(at, filepath.FromSlash(file)))
		if err != nil {
			return 0, err
		}
		size += n
	}
	return size, nil
}

// sizeOf is the size of an output, which is a file or a directory of files.
func sizeOf(output string) (size int64, err error) {
	err = filepath.WalkDir(output, func(_ string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || e.IsDir():
			return err
		case !e.Type().IsRegular():
			return fs.ErrInvalid
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// passing reports whether the same bytes may give more another time: some could
// not be read, as when a network mount was away.
func (o *outcome) passing() bool {
	return o.Incomplete > 0 && slices.ContainsFunc(o.Reasons, func(name string) bool {
		return name == stream.ReasonStalled.String() || name == stream.ReasonUnreadable.String()
	})
}

// add notes an outcome.
func (j *journal) add(o outcome) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.note(o)
	_, err = j.file.Write(append(line, '\n'))
	return err
}

func (j *journal) close() error { return j.file.Close() }

// before is what was made earlier where now would be made.
func (j *journal) before(now *outcome) (outcome, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o, ok := j.done[now.key()]
	return o, ok
}

// withdraw removes an outcome.
func (j *journal) withdraw(o *outcome, t *conversion.Target) error {
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

// remove removes an outcome from a data set: first the file that says that it is
// complete.
func (j *journal) remove(o *outcome, from *conversion.Target) error {
	files := j.files(o)
	complete := func(file string) bool { return strings.HasPrefix(file, from.Format.Last) }
	rest := slices.DeleteFunc(slices.Clone(files), complete)
	first := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !complete(file) })
	if err := removeFiles(from.Name, append(first, rest...)); err != nil {
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
	output.RemoveEmpty(dir, files)
	return nil
}
