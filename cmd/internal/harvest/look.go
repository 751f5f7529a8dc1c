package harvest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"gprof/chunks/folder"
	"gprof/chunks/kept"
)

const (
	// depth is how far below a directory sessions are looked for: DIR/POD/SERVICE.
	depth = 2
	// maxEntries bounds the entries of a directory that are looked at. A session has at most
	// some thousand.
	maxEntries = 1 << 14
)

// look finds all processes below the directories, and returns those that are to be saved.
func (h *Harvester) look() (wanted []*process) {
	h.looks++
	h.sum.Live = 0
	for _, dir := range h.o.Dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			h.unreadable(dir, err)
			continue
		}
		h.walk(root, ".", 0)
		root.Close() // it was only read
	}
	for dir, p := range h.seen {
		if p.look != h.looks && !p.vanished() {
			delete(h.seen, dir)
			continue
		}
		switch {
		case p.state == live:
			h.sum.Live++
		case p.state == dead && (p.gone || p.told || time.Since(p.since) >= h.o.Settle):
			wanted = append(wanted, p)
		}
	}
	return wanted
}

// vanished notes that a process was not seen this time, and reports whether something of it
// was still to be saved: it is gone, unless somebody else has saved it.
func (p *process) vanished() bool {
	_, err := os.Lstat(p.dir())
	p.gone = p.gone || errors.Is(err, fs.ErrNotExist)
	return p.state == dead
}

// walk looks into a directory, at processes and for sessions. Links are not followed.
func (h *Harvester) walk(root *os.Root, rel string, level int) {
	entries, err := list(root, rel)
	if err != nil {
		h.unreadable(filepath.Join(root.Name(), rel), err)
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		below := path.Join(rel, e.Name())
		if e.Name() == kept.DirName {
			h.meetKept(root, below)
		}
		if instance, ok := folder.InstanceOf(e.Name()); ok {
			h.meet(root, below, instance)
		} else if level < depth {
			h.walk(root, below, level+1)
		}
	}
}

// list returns the entries of a directory.
func list(root *os.Root, rel string) ([]fs.DirEntry, error) {
	f, err := root.OpenFile(rel, os.O_RDONLY|folder.OpenCarefully, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries)
	switch {
	case errors.Is(err, io.EOF): // there are none
		return nil, nil
	case err == nil && len(entries) == maxEntries:
		return entries, fmt.Errorf("has %d entries or more; not all are looked at", maxEntries)
	}
	return entries, err
}

// meet notes how a process is.
func (h *Harvester) meet(root *os.Root, rel string, instance uint64) {
	dir := filepath.Join(root.Name(), rel)
	p := h.seen[dir]
	if p == nil {
		p = &process{root: root.Name(), rel: rel, instance: instance}
		h.seen[dir] = p
		if _, err := list(root, rel); errors.Is(err, fs.ErrPermission) {
			p.state = done // it would count as alive for ever
			h.unreadable(dir, err)
		}
	}
	p.look = h.looks
	if p.state != live || alive(dir) {
		return
	}
	switch err := p.read(root, h.o.All); {
	case err != nil:
		p.state = done
		h.unreadable(dir, err)
	case p.state == dead:
		p.since = time.Now()
	}
}

// meetKept finds what triggers kept in a session. A file that has its name is whole.
func (h *Harvester) meetKept(root *os.Root, rel string) {
	entries, err := list(root, rel)
	if err != nil {
		h.unreadable(filepath.Join(root.Name(), rel), err)
	}
	for _, e := range entries {
		f, ok := kept.Parse(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		below := path.Join(rel, e.Name())
		at := filepath.Join(root.Name(), below)
		p := h.seen[at]
		if p == nil {
			p = &process{root: root.Name(), rel: below, instance: f.Instance, kept: e.Name(), ended: f.Time, how: "kept by a trigger", told: true, state: dead}
			h.seen[at] = p
			if err := p.readKept(root); errors.Is(err, fs.ErrNotExist) {
				continue // it has just made room
			} else if err != nil {
				p.state = done
				h.unreadable(at, err)
			}
		}
		p.look = h.looks
	}
}
