package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gprof/recorder"
)

// Arg names a session.
type Arg struct {
	Dir     string `short:"d" placeholder:"DIR" help:"Directory in which sessions lie (default: where the recorder would put them)."`
	Session string `arg:"" help:"Directory of the session, or the service's name."`
}

// List lists the sessions in dir or, if that is empty, wherever recorders of this user
// put them.
func List(dir string) (all []string) {
	dirs := []string{dir}
	if dir == "" {
		dirs = recorder.SessionDirs()
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // nothing has been recorded there
		}
		for _, e := range entries {
			if session := filepath.Join(dir, e.Name()); isSession(session) {
				all = append(all, session)
			}
		}
	}
	return all
}

// Find returns the session's directory. A word without a separator is a
// service's name, unless a directory of that name holds recordings.
func (a *Arg) Find() (string, error) {
	if a.Session == "" {
		return "", errors.New("no session: want its directory or the service's name")
	}
	if a.Dir == "" && isSession(a.Session) {
		return filepath.Abs(a.Session)
	}
	dir := a.Session
	if !strings.ContainsRune(a.Session, filepath.Separator) {
		var err error
		if dir, err = a.ofService(); err != nil {
			return "", err
		}
	}
	switch _, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("no session in %s: nothing has recorded there, or --dir or $%s has to say where", dir, recorder.EnvDir)
	case err != nil:
		return "", err
	case !readable(dir):
		return "", fmt.Errorf("%s: not allowed to read it: sessions are their owner's alone unless they are recorded with GroupAccess", dir)
	case !isSession(dir):
		return "", fmt.Errorf("no session in %s: it holds no recording", dir)
	}
	return filepath.Abs(dir)
}

// ofService is the directory in which a recorder of that service would record.
func (a *Arg) ofService() (string, error) {
	os.Unsetenv(recorder.EnvSession) // it would override the name
	return recorder.Options{Dir: a.Dir, Service: a.Session}.Session()
}

// Processes lists the directories of processes in a session.
func Processes(session string) (dirs []string) {
	entries, err := os.ReadDir(session)
	if err != nil {
		return nil // nothing has been recorded there
	}
	for _, e := range entries {
		dir := filepath.Join(session, e.Name())
		if _, err := os.Stat(filepath.Join(dir, "meta")); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// isSession reports whether a directory holds a control page or recordings.
func isSession(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, "control")); err == nil {
		return true
	}
	return len(Processes(dir)) > 0
}

// readable reports whether this user may look into a directory.
func readable(dir string) bool {
	_, err := os.ReadDir(dir)
	return !errors.Is(err, fs.ErrPermission)
}
