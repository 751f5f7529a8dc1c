package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/report"
	"gprof/cmd/internal/store"
)

// manifest says what a task has written. It is written last, so the task is done when there is
// one.
type manifest struct {
	Version int    `json:"gprof-manifest"`
	Plan    string `json:"plan"`
	Task    string `json:"task"`
	Inputs  int    `json:"inputs"`
	Files   []file `json:"files"`           // at their final names
	Parts   []part `json:"parts,omitempty"` // profiles that the commit adds up
	Empty   bool   `json:"empty,omitempty"` // nothing of the inputs is what the flags ask for

	Failed []failure           `json:"failed,omitempty"` // inputs that could not be read, or not all of them
	Losses []report.LedgerLine `json:"losses,omitempty"`
}

// file is one that a task or a commit has written.
type file struct {
	Name   string `json:"name"` // below the output
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`

	local string // where it lies before it is put
}

// part is a file that becomes part of another one.
type part struct {
	file
	Of string `json:"of"` // name of that below the output
}

// failure is an input that could not be read, or not all of it. Another try would not help.
type failure struct {
	Input string `json:"input"`
	Error string `json:"error"`
}

// aside is where files of tasks that take the place of others lie until their plan is committed:
// readers of a data set take all files there are, and would see both.
func aside(plan string) string { return Dir + "/" + plan + "/aside" }

// asideName is where one lies.
func asideName(plan, name string) string {
	sum := sha256.Sum256([]byte(name))
	return aside(plan) + "/" + hex.EncodeToString(sum[:12])
}

func taskDir(plan string) string { return Dir + "/" + plan + "/tasks" }

func manifestName(plan, task string) string { return taskDir(plan) + "/" + task + ".json" }

// readManifest reads that of a task. The error is [fs.ErrNotExist] if it is not done.
func readManifest(at store.Place, plan, task string) (*manifest, error) {
	name := manifestName(plan, task)
	text, err := at.Read(name)
	if err != nil {
		return nil, err
	}
	m := new(manifest)
	if err := json.Unmarshal(text, m); err != nil || m.Version != version || m.Task != task || m.Plan != plan {
		return nil, fmt.Errorf("%s: damaged, or of another version; remove it and do the task again", at.Path(name))
	}
	named := slices.Clone(m.Files)
	for _, part := range m.Parts {
		named = append(named, part.file, file{Name: part.Of})
	}
	return m, local(at, named)
}

// local refuses names that lead out of the output: files are removed by them, and what says them
// may come from anybody.
func local(at store.Place, files []file) error {
	for _, f := range files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return fmt.Errorf("%s: lists a file that is not below the output: %q", at.Path(Dir), f.Name)
		}
	}
	return nil
}

// done lists the tasks of a plan that have manifests.
func done(at store.Place, plan string) (map[string]bool, error) {
	names, err := at.List(taskDir(plan))
	is := map[string]bool{}
	for _, name := range names {
		if task, ok := strings.CutSuffix(name, ".json"); ok {
			is[task] = true
		}
	}
	return is, err
}

// folder is a local directory of files that are to be put.
type folder struct {
	dir   string
	names map[string]string // of files that lie flat, by their paths in dir, with slashes; others are called as they lie there
}

// flat returns what a data set calls its files. To make, and remove, the directories of so few files as one dump has
// would take a tenth of the time.
func (d *folder) flat(dataSet string) func(name string) string {
	return func(name string) string {
		at := strconv.Itoa(len(d.names))
		d.names[path.Join(dataSet, at)] = path.Join(dataSet, name)
		return at
	}
}

// putAll puts all files of a folder, by their names, or what they are called meanwhile: those last that say what of a
// data set is complete.
func putAll(to store.Place, from *folder, called func(name string) string, targets []conversion.Target) ([]file, error) {
	all, err := from.files()
	if err != nil {
		return nil, err
	}
	last := func(f file) bool {
		return slices.ContainsFunc(targets, func(t conversion.Target) bool {
			rest := strings.TrimPrefix(f.Name, t.Format.Name+"/")
			return t.Format.DataSet() && strings.HasPrefix(rest, t.Format.Last)
		})
	}
	first := slices.DeleteFunc(slices.Clone(all), last)
	if err := putSome(to, called, first); err != nil {
		return nil, err
	}
	return all, putSome(to, called, slices.DeleteFunc(slices.Clone(all), func(f file) bool { return !last(f) }))
}

// putSome puts files, in any order.
func putSome(to store.Place, called func(string) string, all []file) error {
	errs := make([]error, len(all))
	atOnce(len(all), putters, func(i int) { errs[i] = to.Put(called(all[i].Name), all[i].local) })
	return errors.Join(errs...)
}

// asIs calls a file by its name.
func asIs(name string) string { return name }

// putters is how many files are put at a time: in a bucket each waits for an answer.
const putters = 8

// filesIn are the files of a directory, by their names in it, with slashes.
func filesIn(dir string) (map[string]bool, error) {
	all := map[string]bool{}
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		all[filepath.ToSlash(rel)] = true
		return err
	})
	return all, err
}

// files are all files of a folder, in the order of their names.
func (d *folder) files() (all []file, err error) {
	paths, err := filesIn(d.dir)
	if err != nil {
		return nil, err
	}
	for at := range paths {
		name, ok := d.names[at]
		if !ok {
			name = at
		}
		f, err := describe(filepath.Join(d.dir, filepath.FromSlash(at)), name)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// describe is a local file that is to have a name.
func describe(local, name string) (f file, err error) {
	f.Name, f.local = name, local
	in, err := os.Open(local)
	if err != nil {
		return f, err
	}
	defer in.Close()
	sum := sha256.New()
	if f.Size, err = io.Copy(sum, in); err != nil {
		return f, err
	}
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return f, nil
}
