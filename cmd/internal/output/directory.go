package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	slash "path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// directory is an output of many files. They are written into a directory
// beside its name and moved when all are whole: a new one by its name, those
// for one that is there file by file.
type directory struct {
	name, Staging string
	inputs        fs.FileMode // whom they let read
	tables        Tables
	replace       bool       // what is there
	among         bool       // what is there: files of others stay
	shared        *Shared    // with other inputs, or nil
	open          []*os.File // also those that are closed
	// numbers name the files of a shared directory until they have their names:
	// directories for so few of them would take a third of all the time.
	numbers map[string]int
	set     *Set
}

// Shared is how an input's files come into a directory where others have theirs.
type Shared struct {
	Before []string                   // its files of an earlier run, which go
	Begin  func(files []string) error // is told of those to come before the first has its name
}

// Tables is what a directory of files holds.
type Tables struct {
	Format    string // its name
	Stamp     string // the file that says what the directory holds
	StampText string // and the text of that; a directory with another one is not added to
	Last      string // how names of files begin that say what is complete: they come last
	OneRun    bool   // nothing is added to what a run wrote
}

// DirectoryOptions say what becomes of a directory.
type DirectoryOptions struct {
	Tables  Tables
	Replace bool        // what is there
	Shared  *Shared     // with other inputs, or nil
	Room    string      // directory for what it is until it has its name
	Inputs  fs.FileMode // whom those let read
}

// CreateDirectory begins a directory of files of a format. What is there must be of
// its format and version, or empty.
func (u *Set) CreateDirectory(name string, o DirectoryOptions) (*directory, error) {
	d := &directory{name: filepath.Clean(name), inputs: o.Inputs, tables: o.Tables, replace: o.Replace && o.Shared == nil, shared: o.Shared, set: u}
	if err := errors.Join(RefuseLinks(name), d.check()); err != nil {
		return nil, err
	}
	return d, d.stage(o.Room, d.name)
}

// CreateFiles begins many files of a directory, which need not be there. Shared is nil
// or of others that have files there.
func (u *Set) CreateFiles(dir string, inputs fs.FileMode, shared *Shared) (*directory, error) {
	if err := RefuseLinks(dir); err != nil {
		return nil, err
	}
	d := &directory{name: dir, inputs: inputs, among: true, shared: shared, set: u}
	return d, d.stage(Existing(dir), "files")
}

// stage makes the directory that files are written into, in the directory room.
func (d *directory) stage(room, name string) error {
	err := d.set.add(func() (_ path, err error) {
		d.Staging, err = os.MkdirTemp(room, temporaryName(name))
		return path{name: d.Staging}, err
	})
	if err != nil {
		return fmt.Errorf("cannot write beside the output: %w", err)
	}
	return nil
}

// Existing is the directory itself, or the next above it that is there: one that
// is on the same file system.
func Existing(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// Absolute is an absolute path, or the path as it is where that can't be told.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// check refuses to add to a directory of something else.
func (d *directory) check() error {
	if d.vacant() {
		return nil
	}
	if _, err := os.ReadDir(d.name); err != nil {
		return fmt.Errorf("%w; give -o the name of a directory", err)
	}
	stamp, err := os.ReadFile(filepath.Join(d.name, d.tables.Stamp))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: holds other files than %s tables; give -o a new directory", d.name, d.tables.Format)
	case err != nil:
		return err
	case string(stamp) != d.tables.StampText:
		return fmt.Errorf("%s: holds tables of another format or version; give -o a new directory", d.name)
	case d.tables.OneRun && !d.replace:
		return fmt.Errorf("%s: holds tables, and a directory of %s takes those of one run; give -o a new directory", d.name, d.tables.Format)
	}
	return nil
}

// Create begins a file. No interrupt comes between: it would remove what lies
// in the directory, and the directory must not come back.
func (d *directory) Create(name string) (io.WriteCloser, error) {
	d.set.mu.Lock()
	defer d.set.mu.Unlock()
	if d.shared != nil {
		if d.numbers == nil {
			d.numbers = map[string]int{}
		}
		d.numbers[filepath.FromSlash(name)] = len(d.open)
	}
	path := d.staged(filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), folderMode(d.inputs)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode(d.inputs))
	if err != nil {
		return nil, err
	}
	d.open = append(d.open, f)
	return f, nil
}

// staged is where a file is until it has its name.
func (d *directory) staged(file string) string {
	if d.shared != nil {
		file = strconv.Itoa(d.numbers[file])
	}
	return filepath.Join(d.Staging, file)
}

// stagedAs implements [product].
func (d *directory) stagedAs() string { return d.Staging }

func (d *directory) close() error { return os.Chmod(d.Staging, folderMode(d.inputs)) }

func (d *directory) place(p *placing) error {
	if d.shared == nil && (d.replace || !d.among && d.vacant()) {
		return p.move(d.Staging, d.name)
	}
	files, err := d.files()
	if err != nil {
		return err
	}
	if d.shared != nil {
		if err := d.takePlace(p, files); err != nil {
			return err
		}
	}
	for _, file := range files {
		to := filepath.Join(d.name, file)
		if err := p.mkdir(filepath.Dir(to)); err != nil {
			return err
		}
		if err := p.move(d.staged(file), to); err != nil {
			return err
		}
	}
	return nil
}

// takePlace takes the files of an earlier run away for those that come.
func (d *directory) takePlace(p *placing, files []string) error {
	var names []string
	for _, file := range files {
		names = append(names, filepath.ToSlash(file))
	}
	if err := d.shared.Begin(names); err != nil {
		return err
	}
	for i, file := range d.shared.Before {
		if slices.Contains(names, file) {
			continue
		}
		if err := p.remove(filepath.Join(d.name, filepath.FromSlash(file)), filepath.Join(d.Staging, fmt.Sprint("before-", i))); err != nil {
			return err
		}
	}
	return nil
}

func (d *directory) drop() {
	for _, f := range d.open {
		f.Close()
	}
	os.RemoveAll(d.Staging)
	if d.shared != nil {
		RemoveEmpty(d.name, d.shared.Before)
	}
}

// RemoveEmpty removes the directories below root that were of files, as far as
// nothing is in them.
func RemoveEmpty(root string, files []string) {
	for _, file := range files {
		for dir := slash.Dir(file); dir != "." && os.Remove(filepath.Join(root, filepath.FromSlash(dir))) == nil; {
			dir = slash.Dir(dir)
		}
	}
}

// vacant reports whether the name is nobody's, or an empty directory's.
func (d *directory) vacant() bool { return Vacant(d.name, d.shared != nil) }

// Vacant reports whether a name is nobody's, or that of a directory in which nothing
// is. What has a hidden name in a shared one is no table, and does not count.
func Vacant(name string, shared bool) bool {
	entries, err := os.ReadDir(name)
	if shared {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
	}
	return err == nil && len(entries) == 0 || errors.Is(err, fs.ErrNotExist)
}

// files lists what was written, in the order in which it is moved: what says
// that a session is complete comes last.
func (d *directory) files() ([]string, error) {
	all, err := d.written()
	if d.among {
		return all, err
	}
	complete := func(file string) bool { return strings.HasPrefix(filepath.ToSlash(file), d.tables.Last) }
	last := slices.DeleteFunc(slices.Clone(all), func(file string) bool { return !complete(file) })
	return append(slices.DeleteFunc(all, complete), last...), err
}

// written lists what was written, by name.
func (d *directory) written() (files []string, err error) {
	if d.shared != nil {
		return slices.Sorted(maps.Keys(d.numbers)), nil
	}
	err = filepath.WalkDir(d.Staging, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(d.Staging, path)
		files = append(files, rel)
		return err
	})
	return files, err
}
