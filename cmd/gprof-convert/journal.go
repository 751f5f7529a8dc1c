package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"gprof/stream"
)

// journalName is the file in the output directory of a batch that says what is
// done: a line of JSON for each output, written when the output has its name.
// A line that was cut short is one that is missing, and its output is made
// again.
const journalName = ".gprof-batch.jsonl"

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
}

// journal is what earlier runs have done, and what this one does.
type journal struct {
	dir  string
	file *os.File
	done map[string]outcome // by Output
}

// openJournal reads what is done in an output directory. It writes the lines
// that still count to a new file, which replaces the old one.
func (s *streams) openJournal(dir string) (*journal, error) {
	j := &journal{dir: dir, done: map[string]outcome{}}
	path := filepath.Join(dir, journalName)
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(old) {
		var o outcome
		if json.Unmarshal(line, &o) == nil {
			j.done[o.Output] = o
		}
	}
	if err := j.rewrite(s, path); err != nil {
		return nil, err
	}
	j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	return j, err
}

// rewrite writes one line for each output.
func (j *journal) rewrite(s *streams, path string) error {
	out, err := s.create(path, false)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(out)
	for _, name := range slices.Sorted(maps.Keys(j.done)) {
		if err := lines.Encode(j.done[name]); err != nil {
			out.discard()
			return err
		}
	}
	return out.commit()
}

// unchanged returns what was made earlier where now would be made, if it was
// made of the same bytes in the same way and is still there.
func (j *journal) unchanged(now outcome) (outcome, bool) {
	o, ok := j.done[now.Output]
	if !ok || o.Input != now.Input || o.Fingerprint != now.Fingerprint || o.Settings != now.Settings || o.passing() {
		return outcome{}, false
	}
	return o, j.whole(o)
}

// whole reports whether an output is as it was made.
func (j *journal) whole(o outcome) bool {
	size, err := sizeOf(filepath.Join(j.dir, filepath.FromSlash(o.Output)))
	return err == nil && size == o.Size
}

// sizeOf is the size of an output, which is a file or a directory of files.
func sizeOf(path string) (size int64, err error) {
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
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
		return name == stream.Reasons[stream.ReasonStalled].Name || name == stream.Reasons[stream.ReasonUnreadable].Name
	})
}

// add notes an outcome.
func (j *journal) add(o outcome) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(line, '\n'))
	return err
}

func (j *journal) close() error { return j.file.Close() }

// fingerprintHead is how much of each file goes into a fingerprint: the header
// of a chunk, which says how much of it is committed. The time of a mapped file
// does not always change when its bytes do.
const fingerprintHead = 4096

// fingerprint tells a state of a file, or of all files in a directory, from
// others: by names, sizes, times and beginnings. What skip says is left out.
func fingerprint(path string, skip func(string) bool) (string, error) {
	sum := sha256.New()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	err = filepath.WalkDir(real, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && skip(name):
			return filepath.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(real, name)
		if err != nil {
			return err
		}
		return addFile(sum, name, filepath.ToSlash(rel))
	})
	return hex.EncodeToString(sum.Sum(nil)[:16]), err
}

// addFile adds a file to a fingerprint. A file that went away since it was
// listed is as one that was never there.
func addFile(sum hash.Hash, name, rel string) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "%q %d %d\n", rel, info.Size(), info.ModTime().UnixNano())
	_, err = io.CopyN(sum, f, fingerprintHead)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// program tells this program from other versions of it: by what it was built
// from, and where that is not known, by its own bytes.
func program() (string, error) {
	build, ok := debug.ReadBuildInfo()
	if ok {
		revision, modified := setting(build, "vcs.revision"), setting(build, "vcs.modified")
		if revision != "" && modified == "false" {
			return fmt.Sprint(revision, " ", build.GoVersion, " ", build.Main.Version), nil
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(exe)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)[:16]), err
}

func setting(build *debug.BuildInfo, key string) string {
	for _, s := range build.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
