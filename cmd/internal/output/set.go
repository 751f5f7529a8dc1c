// Package output writes files and directories that appear only when they are whole. They
// are written beside their names and moved when a run has finished all of them; what was
// there before stays until then. An interrupted run leaves nothing behind, and the next
// one removes what a killed run left.
package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ErrPlace is the class of errors that the place of an output has, whatever is written there:
// its directory is missing, or this user may not write to it.
var ErrPlace = errors.New("the place of the output")

// placeError is an error of the class [ErrPlace] with the text of another.
type placeError struct{ error }

func (e placeError) Is(class error) bool { return class == ErrPlace }
func (e placeError) Unwrap() error       { return e.error }

func atPlace(err error) error { return placeError{err} }

// Set is the outputs of a run. It knows the files and directories that were begun and
// must not stay if the run is interrupted; other temporary files have no names.
type Set struct {
	Stdout   io.Writer // what the name "-" means
	Terminal bool      // stdout is a terminal

	mu    sync.Mutex
	paths map[path]bool
}

// path is a name, or the prefix of several.
type path struct {
	name  string
	begin bool
}

// add lists what make makes, by the path that make returns; no interrupt comes in
// between.
func (u *Set) add(make func() (path, error)) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	p, err := make()
	if err != nil {
		return err
	}
	if u.paths == nil {
		u.paths = map[path]bool{}
	}
	u.paths[p] = true
	return nil
}

// TemporaryFile writes a file with a new name that only this user can read. It is removed
// by remove, or when the run is interrupted.
func (u *Set) TemporaryFile(pattern, text string) (name string, remove func(), err error) {
	err = u.add(func() (path, error) {
		f, err := os.CreateTemp(TempDir(), pattern) // mode 0600
		if err != nil {
			return path{}, err
		}
		name = f.Name()
		_, err = f.WriteString(text)
		if err = errors.Join(err, f.Close()); err != nil {
			os.Remove(name)
		}
		return path{name: name}, err
	})
	return name, func() { u.finish(name, func() error { return os.Remove(name) }) }, err
}

// TemporaryDirectory makes a directory in room. It is removed by remove, or when the run is
// interrupted, or by a later [RemoveStale].
func (u *Set) TemporaryDirectory(room, name string) (dir string, remove func(), err error) {
	err = u.add(func() (path, error) {
		dir, err = os.MkdirTemp(room, temporaryName(name))
		return path{name: dir}, err
	})
	if err != nil {
		return "", nil, atPlace(err)
	}
	return dir, func() { u.finish(dir, func() error { return os.RemoveAll(dir) }) }, nil
}

// finish removes a name from the list after end.
func (u *Set) finish(name string, end func() error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.paths, path{name: name})
	return end()
}

// Hold keeps all outputs as they are until the function that it returns is called:
// nothing gets a name meanwhile.
func (u *Set) Hold() (release func()) {
	u.mu.Lock()
	return u.mu.Unlock
}

// Remove removes everything, and prevents that anything gets a name later. Others may
// still be writing into a directory: it is moved away from them first.
func (u *Set) Remove() {
	u.mu.Lock() // for good
	for p := range u.paths {
		for _, name := range p.names() {
			away := name + ".gone"
			if os.Rename(name, away) == nil {
				os.RemoveAll(away)
			}
		}
	}
}

func (p path) names() (all []string) {
	if !p.begin {
		return []string{p.name}
	}
	dir, begin := filepath.Split(p.name)
	entries, _ := os.ReadDir(dir) // a missing one need not be removed
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begin) {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all
}
