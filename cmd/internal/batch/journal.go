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
	"sync"

	"gprof/cmd/internal/output"
	"gprof/stream"
)

// JournalName is the file in the output directory of a batch that lists finished outputs:
// a line of JSON for each, written when the output has its name. A line that was cut
// short counts as missing, and its output is made again.
const JournalName = ".gprof-batch.jsonl"

// outcome is one line: an output, its input, and how it was made.
type outcome struct {
	Input       string   `json:"input"`       // below the directory of inputs
	Output      string   `json:"output"`      // below the directory of outputs
	Fingerprint string   `json:"fingerprint"` // of the input's files, before they were read
	Settings    string   `json:"settings"`    // of the program and its flags
	Size        int64    `json:"size"`        // of the output
	Reasons     []string `json:"reasons"`     // of the output's ledger
	Incomplete  int      `json:"incomplete"`  // parts of the input that could not be read

	// Of an output of many files in the directory Output: a pattern of their names, and the
	// files. A line without settings is written before the files, so that they are known
	// however a run ends.
	Pattern string   `json:"pattern,omitempty"`
	Files   []string `json:"files,omitempty"` // below Output
}

// many reports whether the output is several files of a directory.
func (o *outcome) many() bool { return o.Pattern != "" }

// key identifies an output.
func (o *outcome) key() string {
	if o.Pattern != "" {
		return o.Output + "\x00" + o.Pattern
	}
	return o.Output
}

// local reports whether all files of the output are below the directory of outputs: files
// are removed by their names here, and a journal may come from anybody.
func (o *outcome) local() bool {
	elsewhere := func(name string) bool { return !filepath.IsLocal(filepath.FromSlash(name)) }
	return !elsewhere(o.Output) && !slices.ContainsFunc(o.Files, elsewhere)
}

// nothing is the outcome without any files.
func (o *outcome) nothing() outcome {
	return outcome{Input: o.Input, Output: o.Output, Pattern: o.Pattern}
}

// journal is what earlier runs have finished, and this one so far.
type journal struct {
	dir  string
	file *os.File

	mu     sync.Mutex
	done   map[string]outcome // by key
	owners map[string]int     // how many outcomes have a file of a directory; by its path below dir
}

// openJournal reads the journal of an output directory. It writes the lines that still
// count to a new file, which replaces the old one.
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

// note makes an outcome the one that counts.
func (j *journal) note(o outcome) {
	count := func(o outcome, n int) {
		for _, file := range o.Files {
			j.owners[slash.Join(o.Output, file)] += n
		}
	}
	count(j.done[o.key()], -1)
	count(o, 1)
	j.done[o.key()] = o
	if len(o.Files) == 0 && o.Fingerprint == "" { // its files are gone
		delete(j.done, o.key())
	}
}

// files are those of an output of many files that only this outcome
// has, from when it was made before.
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

// begin notes the files that an outcome will have, besides those that it
// may still have.
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

// unchanged returns the earlier outcome with the key of now, if it was made of the same
// bytes in the same way and is still there.
func (j *journal) unchanged(now outcome) (outcome, bool) {
	j.mu.Lock()
	o, ok := j.done[now.key()]
	j.mu.Unlock()
	if !ok || o.Input != now.Input || o.Fingerprint != now.Fingerprint || o.Settings != now.Settings || o.passing() {
		return outcome{}, false
	}
	return o, j.whole(o)
}

// whole reports whether an output is still as it was made.
func (j *journal) whole(o outcome) bool {
	size, err := j.size(&o)
	return err == nil && size == o.Size
}

// size is that of an output, or of its files in a directory.
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

// sizeOf is the size of a file, or of all files in a directory.
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

// passing reports whether the same input may give more another time: parts could not be
// read, perhaps because a network mount was away.
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

// before is the earlier outcome with the key of now.
func (j *journal) before(now *outcome) (outcome, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o, ok := j.done[now.key()]
	return o, ok
}

// withdraw removes an outcome.
func (j *journal) withdraw(o *outcome) error {
	at := filepath.Join(j.dir, filepath.FromSlash(o.Output))
	if o.Pattern != "" {
		if err := removeFiles(at, j.files(o)); err != nil {
			return err
		}
		os.Remove(at) // fails unless it is empty
	} else if err := os.RemoveAll(at); err != nil {
		return err
	}
	return j.add(o.nothing())
}

// removeFiles removes files below a directory, and directories that are empty then.
func removeFiles(dir string, files []string) error {
	for _, file := range files {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(file))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	output.RemoveEmpty(dir, files)
	return nil
}
