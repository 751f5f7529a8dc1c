package output

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Product is an output that is being made.
type Product interface {
	// stagedAs is the path of the output until it has its name; "" if it needs none.
	stagedAs() string
	// close ends the writing.
	close() error
	// place gives the output its name.
	place(*placing) error
	// drop removes the output if it has no name yet.
	drop()
}

// Commit gives all outputs their names, or none of them; Discard removes them. One of
// them must be called.
func (u *Set) Commit(all ...Product) error {
	return u.finishAll(all, func() error {
		var p placing
		if err := p.placeAll(all); err != nil {
			p.undo()
			dropAll(all)
			return err
		}
		p.keep()
		dropAll(all)
		return nil
	})
}

func (u *Set) Discard(all ...Product) {
	u.finishAll(all, func() error {
		dropAll(all)
		return nil
	})
}

// finishAll is finish for several; no interrupt comes in between.
func (u *Set) finishAll(all []Product, end func() error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, each := range all {
		delete(u.paths, path{name: each.stagedAs()})
	}
	return end()
}

func dropAll(all []Product) {
	for _, each := range all {
		each.drop()
	}
}

// placing gives outputs their names. Files that had a name before are set aside until all
// is done.
type placing struct {
	moves []move
	taken map[string]bool
	made  []string // directories, outer ones first
}

type move struct {
	to     string
	before string // the path now of what had the name; "" if nothing had
}

// placeAll ends the writing of all outputs before the first gets its name: most of what
// can still fail does so then.
func (p *placing) placeAll(all []Product) error {
	for _, each := range all {
		if err := each.close(); err != nil {
			return atPlace(err)
		}
	}
	for _, each := range all {
		if err := each.place(p); err != nil {
			return err
		}
	}
	return nil
}

// move renames a file or a directory.
func (p *placing) move(from, to string) error {
	if p.taken[to] {
		return fmt.Errorf("%s: two outputs have this name; give one of them another", to)
	}
	if err := RefuseLinks(filepath.Dir(to)); err != nil {
		return err
	}
	m := move{to: to}
	if info, err := os.Lstat(to); err == nil {
		if f, err := os.Lstat(from); err == nil && info.IsDir() && !f.IsDir() {
			return fmt.Errorf("%s: is a directory; give -o another name", to)
		}
		m.before = from + ".before"
		if err := setAside(to, m.before, info.IsDir()); err != nil {
			return err
		}
	}
	if err := os.Rename(from, to); err != nil {
		m.restore()
		return atPlace(err)
	}
	p.moves = append(p.moves, m)
	if p.taken == nil {
		p.taken = map[string]bool{}
	}
	p.taken[to] = true
	return nil
}

// remove removes a file, if it exists; it is set aside until all is done.
func (p *placing) remove(name, aside string) error {
	err := os.Rename(name, aside)
	if err == nil {
		p.moves = append(p.moves, move{to: name, before: aside})
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return err
}

// restore undoes a move.
func (m move) restore() {
	if m.before != "" {
		os.Rename(m.before, m.to)
		os.Remove(m.before) // if it still was a link to that file
	}
}

// setAside gives a file another name; where the file system can do that it is a second
// one, so that the file is there all the time.
func setAside(name, before string, isDir bool) error {
	if !isDir && os.Link(name, before) == nil {
		return nil
	}
	return os.Rename(name, before)
}

// mkdir makes a directory and those above it that are missing.
func (p *placing) mkdir(dir string) error {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, os.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := os.Mkdir(missing[i], 0o777); err != nil {
			return err
		}
		p.made = append(p.made, missing[i])
	}
	return nil
}

// undo restores everything as far as possible: if something fails, it fails for the
// reason that the caller has already.
func (p *placing) undo() {
	for i := len(p.moves) - 1; i >= 0; i-- {
		m := p.moves[i]
		if info, err := os.Lstat(m.before); err != nil || info.IsDir() {
			os.RemoveAll(m.to)
		}
		m.restore()
	}
	for i := len(p.made) - 1; i >= 0; i-- {
		os.Remove(p.made[i])
	}
}

// keep removes what was set aside.
func (p *placing) keep() {
	for _, m := range p.moves {
		if m.before != "" {
			os.RemoveAll(m.before)
		}
	}
}
