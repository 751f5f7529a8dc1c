package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// folder is an output that is a directory. A new one is there only once it is
// whole; what is added to one that was there before comes in parts, each whole.
type folder struct {
	dir        string // to write to
	name       string // "" if dir is the name
	unfinished *unfinished
}

// createFolder begins a directory. The names of its parts begin with parts
// until they are whole.
func (s *streams) createFolder(name, parts string) (*folder, error) {
	if err := refuseLinks(name); err != nil {
		return nil, err
	}
	f := &folder{dir: name, unfinished: &s.unfinished}
	if _, err := os.Lstat(name); err == nil {
		return f, s.unfinished.add(func() (path, error) { return path{filepath.Join(name, parts), true}, nil })
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f.name = name
	return f, s.unfinished.add(func() (_ path, err error) {
		f.dir, err = os.MkdirTemp(filepath.Dir(name), temporaryName(name))
		return path{name: f.dir}, err
	})
}

// commit gives the directory its name; discard removes it, if it is new.
func (f *folder) commit() error {
	if f.name == "" {
		return nil
	}
	return f.unfinished.finish(f.dir, func() error { return os.Rename(f.dir, f.name) })
}

func (f *folder) discard() {
	if f.name != "" {
		f.unfinished.finish(f.dir, func() error { return os.RemoveAll(f.dir) })
	}
}
