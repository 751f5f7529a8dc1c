package agent

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"gprof/cmd/internal/human"
)

// recording is what a handle stands for.
type recording struct {
	handle string
	paths  []string
}

// recordings are those that have a handle.
type recordings struct {
	mu   sync.Mutex
	last int
	all  map[string]recording
}

// maxRecordings bounds how many have a handle; the oldest loses it.
const maxRecordings = 256

// add gives a recording its handle; what has one keeps it.
func (s *recordings) add(r recording) (handle string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.Join(r.paths, "\x00")
	for handle, old := range s.all {
		if strings.Join(old.paths, "\x00") == key {
			return handle
		}
	}
	if s.all == nil {
		s.all = map[string]recording{}
	}
	s.last++
	r.handle = fmt.Sprint("r", s.last)
	s.all[r.handle] = r
	delete(s.all, fmt.Sprint("r", s.last-maxRecordings))
	return r.handle
}

func (s *recordings) get(handle string) (recording, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.all[handle]
	if !ok {
		return r, fmt.Errorf("there is no recording %q; open gives handles, such as r1", cut(handle, 20))
	}
	return r, nil
}

// shorten has handles in place of paths, which may be long and many.
func shorten(text string, of []recording) string {
	for _, r := range of {
		if r.handle == "" {
			continue
		}
		var words []string
		for _, p := range r.paths {
			words = append(words, human.Word(p))
		}
		if all := strings.Join(words, " "); strings.ContainsRune(all, filepath.Separator) { // else it may be any word
			text = strings.ReplaceAll(text, all, r.handle)
		}
		if len(r.paths) == 1 && strings.ContainsRune(r.paths[0], filepath.Separator) {
			text = strings.ReplaceAll(text, r.paths[0], r.handle)
		}
	}
	return text
}

// maxPaths bounds those of one recording, and maxPath the length of each: a command line has an end.
const (
	maxPaths = 1000
	maxPath  = 4096
)

// allow refuses paths that may not be read.
func (s *server) allow(paths []string) error {
	if len(paths) == 0 {
		return errors.New("paths is empty: name a session directory, an archive or a file")
	}
	if len(paths) > maxPaths {
		return fmt.Errorf("%d paths, of %d at most; use a pattern such as dumps/*.gprof", len(paths), maxPaths)
	}
	for _, p := range paths {
		if p == "" || p == "-" || len(p) > maxPath || strings.ContainsRune(p, 0) {
			return fmt.Errorf("%q is no path", cut(p, 40))
		}
		if strings.Contains(p, "://") {
			if !s.Remote {
				return fmt.Errorf("%s: only local files are read; gprof-convert mcp --remote reads others, too", cut(p, 40))
			}
			continue
		}
		if err := s.below(p); err != nil {
			return err
		}
	}
	return nil
}

// below refuses a path that does not lie below one of the roots. What is a pattern ends before its first *
// or the like: links behind it are followed, as those in a directory are.
func (s *server) below(path string) error {
	if len(s.Roots) == 0 {
		return nil
	}
	fixed := path
	if i := strings.IndexAny(path, `*?[\`); i >= 0 {
		fixed = filepath.Dir(path[:i] + "x")
	}
	if strings.Contains(path[len(fixed):], "..") {
		return fmt.Errorf("%s: .. behind a pattern", cut(path, 40))
	}
	at, err := real(fixed)
	if err != nil {
		return err
	}
	for _, root := range s.Roots {
		if base, err := real(root); err == nil {
			if rel, err := filepath.Rel(base, at); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				return nil
			}
		}
	}
	return fmt.Errorf("%s: only what lies below %s may be read", cut(path, 40), strings.Join(s.Roots, ", "))
}

// real is where a path leads.
func real(path string) (string, error) {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(at)
}
