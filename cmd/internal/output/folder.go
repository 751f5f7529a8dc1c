package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// folder is an output that is a directory. A new one appears when it is whole; to an
// existing one parts are added, each when it is whole.
type folder struct {
	Dir  string // to write to
	name string // "" if it is that of Dir
	set  *Set
}

// CreateFolder begins a directory. Until its parts are whole their names begin with
// parts.
func (u *Set) CreateFolder(name, parts string) (*folder, error) {
	if err := RefuseLinks(name); err != nil {
		return nil, err
	}
	f := &folder{Dir: name, set: u}
	if _, err := os.Lstat(name); err == nil {
		return f, u.add(func() (path, error) { return path{filepath.Join(name, parts), true}, nil })
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f.name = name
	return f, u.add(func() (_ path, err error) {
		f.Dir, err = os.MkdirTemp(filepath.Dir(name), temporaryName(name))
		return path{name: f.Dir}, err
	})
}

// Commit gives the directory its name; discard removes it if it is new.
func (f *folder) Commit() error {
	if f.name == "" {
		return nil
	}
	return f.set.finish(f.Dir, func() error { return os.Rename(f.Dir, f.name) })
}

func (f *folder) Discard() {
	if f.name != "" {
		f.set.finish(f.Dir, func() error { return os.RemoveAll(f.Dir) })
	}
}
