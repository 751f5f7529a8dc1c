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

// directory is an output of many files. They are written into a directory beside it and
// moved when all are whole: a new directory as a whole, files for an existing one one by
// one.
type directory struct {
	name, Staging string
	inputs        fs.FileMode // their permissions: who may read them
	tables        Tables
	replace       bool       // existing files
	among         bool       // files of others, which stay
	shared        *Shared    // with other inputs, or nil
	open          []*os.File // some may be closed already
	// numbers name the files of a shared directory until they have their names: to make
	// directories for so few of them would take a third of the time.
	numbers map[string]int
	set     *Set
}

// Shared is how an input's files are added to a directory with files of other inputs.
type Shared struct {
	Before []string                   // its files from an earlier run, which are removed
	Begin  func(files []string) error // called with the new ones before the first has its name
	Called func(file string) string   // what a file is called in the directory, with slashes; nil: as it is
}

// Tables is what kind of files a directory holds.
type Tables struct {
	Format    string // its name
	Stamp     string // the file that says what the directory holds
	StampText string // and its text; nothing is added to a directory with another text
	Last      string // prefix of files that say what is complete: they come last
	OneRun    bool   // nothing is added to the files of a run
}

// DirectoryOptions are the options of a directory.
type DirectoryOptions struct {
	Tables  Tables
	Replace bool        // existing files
	Shared  *Shared     // with other inputs, or nil
	Room    string      // directory for its files until they are moved
	Inputs  fs.FileMode // permissions of the inputs: who may read them
}

// CreateDirectory begins a directory of files of a format. An existing one must be empty,
// or of that format and version.
func (u *Set) CreateDirectory(name string, o DirectoryOptions) (*directory, error) {
	d := &directory{name: filepath.Clean(name), inputs: o.Inputs, tables: o.Tables, replace: o.Replace && o.Shared == nil, shared: o.Shared, set: u}
	if err := errors.Join(RefuseLinks(name), d.check()); err != nil {
		return nil, err
	}
	return d, d.stage(o.Room, d.name)
}

// CreateFiles begins many files of a directory, which need not exist. Shared is not nil
// if other inputs have files there.
func (u *Set) CreateFiles(dir string, inputs fs.FileMode, shared *Shared) (*directory, error) {
	if err := RefuseLinks(dir); err != nil {
		return nil, err
	}
	d := &directory{name: dir, inputs: inputs, among: true, shared: shared, set: u}
	return d, d.stage(Existing(dir), "files")
}

// stage makes the directory for the files that are being written, in the directory room.
func (d *directory) stage(room, name string) error {
	err := d.set.add(func() (_ path, err error) {
		d.Staging, err = os.MkdirTemp(room, temporaryName(name))
		return path{name: d.Staging}, err
	})
	if err != nil {
		return fmt.Errorf("cannot write beside the output: %w", atPlace(err))
	}
	return nil
}

// Existing is the directory itself or, if it does not exist, the nearest one above: one
// on the same file system.
func Existing(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// Absolute is the absolute path, or the path itself if that is unknown.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// check refuses to add to a directory of another kind.
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

// Create begins a file. No interrupt comes in between: it would remove the directory,
// which must not be made again.
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

// staged is the path of a file until it has its name.
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
		to := filepath.Join(d.name, d.called(file))
		if err := p.mkdir(filepath.Dir(to)); err != nil {
			return err
		}
		if err := p.move(d.staged(file), to); err != nil {
			return err
		}
	}
	return nil
}

// called is the path of a file in the directory.
func (d *directory) called(file string) string {
	if d.shared == nil || d.shared.Called == nil {
		return file
	}
	return filepath.FromSlash(d.shared.Called(filepath.ToSlash(file)))
}

// takePlace removes the files of an earlier run.
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

// RemoveEmpty removes the directories of files below root that are empty.
func RemoveEmpty(root string, files []string) {
	for _, file := range files {
		for dir := slash.Dir(file); dir != "." && os.Remove(filepath.Join(root, filepath.FromSlash(dir))) == nil; {
			dir = slash.Dir(dir)
		}
	}
}

// vacant reports whether there is nothing of that name but perhaps an empty directory.
func (d *directory) vacant() bool { return Vacant(d.name, d.shared != nil) }

// Vacant reports whether there is nothing of a name but perhaps an empty directory. In a
// shared one, hidden files are no tables and do not count.
func Vacant(name string, shared bool) bool {
	entries, err := os.ReadDir(name)
	if shared {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
	}
	return err == nil && len(entries) == 0 || errors.Is(err, fs.ErrNotExist)
}

// files lists what was written in the order in which it is moved: files that say that a
// session is complete come last.
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
